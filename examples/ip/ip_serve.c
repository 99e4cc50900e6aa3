/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_serve.c - serves one file by HTTP, from U-Net, to any program of this machine:
 *
 *     unet-gateway --network 10.9.0.0/24 /tmp/gateway &
 *     ip_serve /tmp/gateway FILE [COUNT] &
 *     curl http://10.9.0.2:8080/
 *
 * Ends after COUNT requests, if that is given.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <ip/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PORT = 8080, PATIENCE_MS = 10000 };

static int check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "ip_serve: %s: %s\n", what, strerror(-result));
        exit(1);
    }
    return result;
}

static void *map_file(const char *path, size_t *length)
{
    const int fd = open(path, O_RDONLY);
    struct stat about;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &about) == 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    *length = (size_t)about.st_size;
    close(fd);
    return bytes;
}

/* Whatever is asked for: an HTTP request ends with an empty line. */
static int request_read(struct ip_socket *s)
{
    char text[8192] = "";
    size_t length = 0;

    while (!strstr(text, "\r\n\r\n")) {
        const ssize_t n = length + 1 < sizeof text
                              ? ip_recv(s, text + length, sizeof text - 1 - length, PATIENCE_MS)
                              : -1;
        if (n <= 0)
            return -1;
        length += (size_t)n;
        text[length] = '\0';
    }
    return 0;
}

static void serve(struct ip_socket *s, const void *file, size_t length)
{
    char head[128];
    const int n =
        snprintf(head, sizeof head,
                 "HTTP/1.0 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", length);

    if (request_read(s) == 0 && ip_send(s, head, (size_t)n, PATIENCE_MS) == n &&
        ip_send(s, file, length, PATIENCE_MS) == (ssize_t)length)
        ip_shutdown(s);
}

int main(int argc, char **argv)
{
    const char *backend = getenv("IP_BACKEND");
    const struct unet_ops *ops = unet_backend(backend ? backend : "shm");
    struct unet_config config = {0};
    struct ip_config ip = {0};
    struct ip_gateway gateway;
    struct unet_endpoint *ep;
    struct ip_stack *stack;
    struct ip_socket *listener, *s;
    struct sockaddr_in peer;
    char text[INET_ADDRSTRLEN];
    size_t length;
    void *file;

    if (argc < 3 || !ops) {
        fprintf(stderr, "usage: [IP_BACKEND=NAME] ip_serve GATEWAY FILE [COUNT]\n");
        return 2;
    }
    file = map_file(argv[2], &length);
    ip_endpoint_config(&config);
    check(unet_open(ops, &config, &ep), "endpoint");
    check(ip_gateway_join(ep, argv[1], &gateway), argv[1]);
    ip.address = gateway.address;
    ip.mtu = gateway.mtu;
    check(ip_open(ep, &ip, &stack), "stack");
    check(ip_route_add(stack, (struct in_addr){0}, 0, gateway.channel), "route");
    check(ip_socket_open(stack, SOCK_STREAM, &listener), "socket");
    check(ip_bind(listener, htons(PORT)), "port");
    check(ip_listen(listener, 16), "listen");
    printf("http://%s:%d/\n", inet_ntop(AF_INET, &ip.address, text, sizeof text), PORT);
    fflush(stdout);
    for (long left = argc > 3 ? atol(argv[3]) : -1; left != 0; left--) {
        check(ip_accept(listener, &s, &peer, -1), "accept");
        serve(s, file, length);
        ip_socket_close(s);
    }
    check(ip_flush(stack, PATIENCE_MS), "flush");
    ip_close(stack);
    ip_gateway_leave(&gateway);
    unet_close(ep);
    return 0;
}
