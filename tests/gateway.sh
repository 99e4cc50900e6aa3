#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# gateway.sh BIN BACKEND FOLDER - in a network namespace of its own: curl fetches a file, twice, from a
# server on U-Net by unet-gateway.  Prints how it ended.  Over eth the server is on another host, which is
# a network namespace that sees the same files.
set -euo pipefail
bin=$1 backend=$2 folder=$3
there=() here=lo

if [[ $backend == eth ]]; then
    exec {host}< <(exec unshare -n sh -c 'echo $$ && exec sleep 100')
    read -r -t 20 host_id <&"$host"
    trap 'kill "$host_id"' EXIT
    ip link add unet-here type veth peer name unet-there netns "$host_id"
    ip link set unet-here up
    there=(nsenter -t "$host_id" -n) here=unet-here
    "${there[@]}" ip link set unet-there up
fi
head -c 4000001 /dev/urandom >"$folder/file"
exec {gateway}< <(UNET_INTERFACE=$here exec "$bin/unet-gateway" --backend "$backend" --network 10.9.0.0/24 "$folder/socket" 2>"$folder/log")
gateway_id=$!
read -r -t 20 <&"$gateway" || { cat "$folder/log"; exit 1; }
exec {server}< <(IP_BACKEND=$backend UNET_INTERFACE=${here/here/there} exec "${there[@]}" "$bin/ip_serve" "$folder/socket" "$folder/file" 2)
server_id=$!
read -r -t 20 url <&"$server"
for turn in 1 2; do
    curl -sS -m 20 -o "$folder/copy" "$url"
    cmp "$folder/file" "$folder/copy"
    echo "fetched $turn from $url"
done
while read -r -t 20 <&"$server"; do :; done # until it has ended
kill "$gateway_id"
while read -r -t 20 <&"$gateway"; do :; done
grep -qE '^unet-gateway: [1-9][0-9]* packets to programs, [1-9][0-9]* from them' "$folder/log" || cat "$folder/log"
: "$server_id"
