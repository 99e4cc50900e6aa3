/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unetsock.c - run a program with libunetsock in front of libc, and tell what became of its
 * connections.
 */
#include "front.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The library: where the build, or the installation, has put it beside this program. */
static int find_library(char *path, size_t size)
{
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (length < 0)
        return -errno;
    self[length] = '\0';
    for (int up = 0; up < 2; up++)
        if ((slash = strrchr(self, '/')))
            *slash = '\0';
    if ((size_t)snprintf(path, size, "%s/lib/split-c/libunetsock.so", self) >= size)
        return -ENAMETOOLONG;
    return access(path, R_OK) < 0 ? -errno : 0;
}

/* Puts a word in front of a list of the environment. */
static int put_first(const char *list, const char *word)
{
    const char *others = getenv(list);
    char *all = NULL;
    int error;

    if (!others || !*others)
        return setenv(list, word, 1) < 0 ? -errno : 0;
    if (asprintf(&all, "%s:%s", word, others) < 0)
        return -ENOMEM;
    error = setenv(list, all, 1) < 0 ? -errno : 0;
    free(all);
    return error;
}

/* Where the dynamic linker takes LD_PRELOAD apart, and where LD_LIBRARY_PATH, or puts in something
 * else. */
static const char preload_ends[] = " :$", folder_ends[] = ":;$";

static int preload(void)
{
    char path[4200];
    char *name;
    int error = find_library(path, sizeof(path));

    if (error < 0) {
        fprintf(stderr, "unetsock: no library at '%s': %s; install it, or set LD_PRELOAD\n", path,
                strerror(-error));
        return error;
    }
    if (!strpbrk(path, preload_ends))
        return put_first("LD_PRELOAD", path);
    if (strpbrk(path, folder_ends)) {
        fprintf(
            stderr,
            "unetsock: the dynamic linker cannot preload '%s', whose path has a colon, a dollar "
            "sign, or a space and a semicolon; install it elsewhere\n",
            path);
        return -EINVAL;
    }
    /* A name alone is looked for in folders, whose names may have spaces. */
    name = strrchr(path, '/');
    *name++ = '\0';
    error = put_first("LD_LIBRARY_PATH", path);
    return error < 0 ? error : put_first("LD_PRELOAD", name);
}

static int execute(char **argv)
{
    execvp(argv[0], argv);
    const int error = errno;
    fprintf(stderr, "unetsock: cannot run '%s': %s\n", argv[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

/* A file of counters that the program and all that it starts find by its name. */
static struct sockets_counters *make_counters(void)
{
    char path[64];
    const int fd = memfd_create("unetsock-stats", MFD_CLOEXEC);
    void *map;

    if (fd < 0 || ftruncate(fd, sizeof(struct sockets_counters)) < 0)
        return NULL;
    map = mmap(NULL, sizeof(struct sockets_counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), fd);
    return map == MAP_FAILED || setenv("UNETSOCK_STATS", path, 1) < 0 ? NULL : map;
}

static volatile sig_atomic_t child;

static void pass_on(int signal)
{
    if (child > 0)
        kill((pid_t)child, signal);
}

/* What is sent to us is meant for the program; from a terminal it gets it, too. */
static void pass_signals_on(void)
{
    const int signals[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &action, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

/* In the child, which says by a pipe if the program was never started. */
static _Noreturn void start(char **argv, int failed)
{
    const int status = execute(argv);

    _exit(write(failed, "", 1) == 1 ? status : 126);
}

static int run_and_count(char **argv)
{
    struct sockets_counters *counters = make_counters();
    int status, failed[2];
    char byte;
    pid_t pid;

    if (!counters || pipe2(failed, O_CLOEXEC) < 0) {
        perror("unetsock: no memory or descriptor for --stats");
        return 126;
    }
    if (preload() < 0)
        return 126;
    pid = fork();
    if (pid < 0) {
        perror("unetsock: cannot start a process");
        return 126;
    }
    if (pid == 0)
        start(argv, failed[1]);
    close(failed[1]);
    child = pid;
    pass_signals_on();
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 126;
    if (read(failed[0], &byte, 1) == 0)
        front_print_counters(stderr, counters);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What an option does with the words behind it; returns an exit status, or -1 if they make no
 * sense. */
static bool counts;

static int run(char **words);

static int option_stats(char **words)
{
    counts = true;
    return *words ? run(words) : -1;
}

static int option_explain(char **words)
{
    char *end;
    long pid;

    if (!words[0] || words[1])
        return -1;
    pid = strtol(words[0], &end, 10);
    if (!*words[0] || *end || pid <= 0) {
        fprintf(stderr, "unetsock: '%s' is no process; --explain takes the number of one\n",
                words[0]);
        return 2;
    }
    return front_explain(stdout, (pid_t)pid);
}

static int option_run(char **words)
{
    if (!*words)
        return -1;
    if (front_check_settings() < 0)
        return 2;
    return counts ? run_and_count(words) : preload() < 0 ? 126 : execute(words);
}

/* An option that only changes how the rest is run. */
static int option_net(char **words)
{
    if (!words[0] || !words[1])
        return -1;
    return front_set_net(words[0]) < 0 ? 2 : run(words + 1);
}

static int option_make_key(char **words)
{
    return *words ? -1 : front_make_key();
}

static int option_print_options(char **words);
static int option_version(char **words);
static int option_help(char **words);

/* Completions and the manual are generated from this table, too. */
static const struct option {
    const char *name;
    const char *value; /* "" if it has none */
    const char *text;
    int (*take)(char **words);
    const char *needs; /* what is wrong if the words behind it make no sense */
} options[] = {
    {"--stats", "", "when the program has ended, tell what became of all connections", option_stats,
     "needs a program behind it"},
    {"--net", "BACKEND",
     "short messages to other hosts go by this network, too (udp, eth, fe), if their program runs "
     "so",
     option_net, "needs a network and a program behind it"},
    {"--make-key", "", "make the key that hosts need for --net, in ~/.unetsock-key",
     option_make_key, "takes no words behind it"},
    {"--explain", "PID", "tell what the connections of a running program do, and why",
     option_explain, "needs the number of a process behind it, and nothing else"},
    {"--", "", "end of the options", option_run, "needs a program behind it"},
    {"--version", "", "print the version", option_version, ""},
    {"--print-options", "", "print a table of the options", option_print_options, ""},
    {"--help", "", "print this text", option_help, ""},
};
static const size_t option_count = sizeof(options) / sizeof(*options);

static void print_usage(FILE *out)
{
    fputs("usage: unetsock [--net BACKEND] [--stats] PROGRAM [ARGUMENTS]\n"
          "       unetsock --explain PID\n"
          "       unetsock --make-key\n"
          "\n"
          "Run a program whose TCP connections to others on this machine, that run so, too, go by\n"
          "shared memory.  Whatever cannot go there works as it does without.\n"
          "\n",
          out);
    for (size_t i = 0; i < option_count; i++) {
        char left[32];

        snprintf(left, sizeof(left), "%s %s", options[i].name, options[i].value);
        fprintf(out, "  %-16s%s\n", left, options[i].text);
    }
    fputs("\n"
          "UNETSOCK_UPGRADE=N after how many operations connections are upgraded (4), or random;\n"
          "UNETSOCK_SPIN=US how long waiting for data looks at memory at most (50 to 200)\n"
          "UNETSOCK_CORE=0  two that take turns never wait on one core\n",
          out);
}

/* The exit status once all is on standard output. */
static int check_printed(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    perror("unetsock: cannot write to standard output");
    return 1;
}

static int option_version(char **words)
{
    (void)words;
    puts("unetsock " UNETSOCK_VERSION);
    return check_printed();
}

/* For packaging/options.awk: option TAB name TAB value TAB text. */
static int option_print_options(char **words)
{
    (void)words;
    for (size_t i = 0; i < option_count; i++)
        printf("option\t%s\t%s\t%s\t\n", options[i].name, options[i].value, options[i].text);
    return check_printed();
}

static int option_help(char **words)
{
    (void)words;
    print_usage(stdout);
    return check_printed();
}

/* The options and the program; an exit status. */
static int run(char **argv)
{
    const struct option *option = NULL;
    int status = -1;

    if (*argv && **argv != '-')
        return option_run(argv);
    for (size_t i = 0; *argv && !option && i < option_count; i++)
        if (strcmp(*argv, options[i].name) == 0)
            option = &options[i];
    if (option)
        status = option->take(argv + 1);
    if (status >= 0)
        return status;
    if (option)
        fprintf(stderr, "unetsock: option '%s' %s\n", *argv, option->needs);
    else if (*argv)
        fprintf(stderr, "unetsock: unknown option '%s'\n", *argv);
    print_usage(stderr);
    return 2;
}

int main(int argc, char **argv)
{
    (void)argc;
    return run(argv + 1);
}
