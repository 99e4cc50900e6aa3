#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# gateways.sh BIN FOLDER - in a network namespace of its own: gateways at one socket and one interface, the
# first of which is killed.  Prints what they say.
set -euo pipefail
bin=$1
cd "$2"

# Starts one that serves: $id, and what it says at descriptor $out.
serve() {
    exec {out}< <(exec "$bin/unet-gateway" --network 10.9.0.0/24 "$@" 2>/dev/null)
    id=$!
    read -r -t 20 line <&"$out"
    printf '%s\n' "$line"
}

# Waits for the end of the one that serves.
ended() {
    while read -r -t 20 <&"$out"; do :; done
}

# Says what one that cannot serve says.
refused() {
    ! timeout 20 "$@" 2>&1
}

serve socket
trap 'kill "$id" 2>/dev/null || :' EXIT
refused "$bin/unet-gateway" --network 10.8.0.0/24 socket
refused "$bin/unet-gateway" --network 10.8.0.0/24 --tun unet1 socket
kill -KILL "$id"
ended
serve socket
echo content >file
refused "$bin/unet-gateway" --network 10.8.0.0/24 --tun unet1 file
refused "$bin/unet-gateway" --network 10.8.0.0/24 --tun unet1 none/socket
refused "$bin/unet-gateway" --network 10.8.0.0/24 --tun lo another
refused setpriv --bounding-set -net_admin --inh-caps -net_admin "$bin/unet-gateway" --network 10.8.0.0/24 --tun unet1 another
cat file
kill "$id"
ended
