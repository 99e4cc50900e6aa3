/* SPDX-License-Identifier: BSD-3-Clause
 *
 * options.c - the command line of unet-gateway.
 */
#include "gateway/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind { BACKEND, TUN, NETWORK, VERSION, PRINT_OPTIONS, HELP, KINDS };

/* Completions and the manual are generated from this table, too. */
static const struct {
    const char *name, *value, *text;
} table[KINDS] = {
    [BACKEND] = {"--backend", "shm|udp|eth", "what carries messages to and from programs: shm"},
    [TUN] = {"--tun", "NAME", "the network interface that it makes: unet0"},
    [NETWORK] = {"--network", "ADDRESS/PREFIX",
                 "its network, as in 10.9.0.0/24: the interface has the first address"},
    [VERSION] = {"--version", "", "print the version"},
    [PRINT_OPTIONS] = {"--print-options", "", "print a table of the options"},
    [HELP] = {"--help", "", "print this text"},
};

static void options_usage(FILE *out)
{
    fputs("usage: unet-gateway [OPTIONS] --network ADDRESS/PREFIX SOCKET\n"
          "\n"
          "Makes a network interface, through which the kernel reaches programs on U-Net, which\n"
          "join at the Unix socket SOCKET.  Needs CAP_NET_ADMIN.  Ends by SIGTERM or SIGINT.\n"
          "\n",
          out);
    for (int i = 0; i < KINDS; i++) {
        char left[32];

        snprintf(left, sizeof left, "%s %s", table[i].name, table[i].value);
        fprintf(out, "  %-25s %s\n", left, table[i].text);
    }
}

/* For packaging/options.awk: option TAB name TAB value TAB text. */
static void options_print(void)
{
    for (int i = 0; i < KINDS; i++)
        printf("option\t%s\t%s\t%s\t\n", table[i].name, table[i].value, table[i].text);
}

static bool options_are_written(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "unet-gateway: cannot write to standard output: %s\n", strerror(errno));
    return false;
}

int gateway_options_read(int argc, char **argv, struct gateway_options *options)
{
    struct option known[KINDS + 1] = {{0}};
    const char **const value[] = {
        [BACKEND] = &options->backend, [TUN] = &options->tun, [NETWORK] = &options->network};
    int kind;

    *options = (struct gateway_options){.backend = "shm", .tun = "unet0"};
    for (int i = 0; i < KINDS; i++)
        known[i] = (struct option){.name = table[i].name + 2,
                                   .has_arg = table[i].value[0] ? required_argument : no_argument,
                                   .val = i};
    while ((kind = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (kind == HELP)
            options_usage(stdout);
        else if (kind == VERSION)
            puts("unet-gateway " GATEWAY_VERSION);
        else if (kind == PRINT_OPTIONS)
            options_print();
        else if (kind == '?')
            return options_usage(stderr), 2;
        if (kind == HELP || kind == VERSION || kind == PRINT_OPTIONS)
            return options_are_written() ? 0 : 1;
        *value[kind] = optarg;
    }
    if (!options->network || optind + 1 != argc) {
        fputs("unet-gateway: --network and one SOCKET are needed, and nothing but options\n",
              stderr);
        return options_usage(stderr), 2;
    }
    options->socket = argv[optind];
    return -1;
}
