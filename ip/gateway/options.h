/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.h - the command line of unet-gateway.
 */
#ifndef IP_GATEWAY_OPTIONS_H
#define IP_GATEWAY_OPTIONS_H

struct gateway_options {
    const char *backend, *tun, *network, *socket;
};

/* Returns -1 to go on, or the exit status: an option has been done, or what is wrong been said. */
int gateway_options_read(int argc, char **argv, struct gateway_options *options);

#endif
