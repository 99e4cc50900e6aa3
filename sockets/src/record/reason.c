/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reason.c - in words why a connection is where it is.
 */
#include "record/record.h"

const char *sockets_reason_text(enum sockets_reason reason)
{
    static const char *const text[SOCKETS_REASONS] = {
        [SOCKETS_YOUNG] = "saw too few operations",
        [SOCKETS_UPGRADED] = "upgraded",
        [SOCKETS_REMOTE] = "has its peer on another machine",
        [SOCKETS_FOREIGN] = "has a peer without unetsock",
        [SOCKETS_STRANGER] = "has a peer of another user",
        [SOCKETS_SHARED] = "is shared with another process",
        [SOCKETS_PINNED] = "is used in a way that only the kernel serves",
        [SOCKETS_RESOURCES] = "found no memory or descriptor left",
        [SOCKETS_MANY] = "is with TCP since the program has many",
        [SOCKETS_PATH] = "is with TCP since the path between the hosts died",
        [SOCKETS_NETWORK] = "is with TCP since the network of --net cannot be opened here",
        [SOCKETS_SILENT] =
            "has a peer on another machine that did not answer: no unetsock --net there, "
            "another UNETSOCK_KEY, or a firewall",
        [SOCKETS_NO_PATH] =
            "met its peer, but not by the network of --net, which is not open there, "
            "or behind a firewall",
        [SOCKETS_BROKEN] = "was ended: the peer broke the ring's rules",
    };

    return reason < SOCKETS_REASONS ? text[reason] : "unknown";
}
