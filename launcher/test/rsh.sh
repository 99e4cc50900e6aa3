#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A remote shell for the tests of unetrun that goes nowhere: every host is this machine.
# Some hosts are in the trouble that their name tells.
host=$1
shift
case $host in
refusing)
    echo "me@refusing: Permission denied (publickey)." >&2
    exit 255
    ;;
curt) # ends in the middle of a line
    printf "me@curt: Permission denied (publickey)." >&2
    exit 255
    ;;
stammering) # its first letter comes alone
    printf "m" >&2
    sleep 0.1
    echo "e@stammering: Permission denied (publickey)." >&2
    exit 255
    ;;
unknown)
    echo "ssh: Could not resolve hostname unknown: Name or service not known" >&2
    exit 255
    ;;
bare) exec /no/such/unetrun ;;
pathless) export PATH=/nowhere ;; # has no remote shell itself
chatty) echo "Welcome to chatty, the talking machine" ;;
old) # says hello with another version: type, length, node; text
    printf '\001\000\000\000\007\000\000\000\000\000\000\000\003\000\000\0009.9'
    exec cat >/dev/null
    ;;
lying-*) exec "$UNETRUN_LIAR" "${host#lying-}" /bin/sh -c "$*" ;;
esac
exec /bin/sh -c "$*"
