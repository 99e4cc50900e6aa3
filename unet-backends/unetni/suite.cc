// SPDX-License-Identifier: BSD-3-Clause
//
// The conformance suite, by an unprivileged user over two services, and what is the service's own.
//
// Each test has a network of its own, with a pair of virtual interfaces and a service on each.
// Endpoints are opened at one and the other in turn.  A file beside this one says which wire.
#include "unetni/harness.h"

#include "conformance/harness.h"

#define CATCH_CONFIG_EXTERNAL_INTERFACES // for the listener
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

extern const char *const wire_under_test;
extern const int mtu_under_test;

namespace {

class Namespace : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo &) override
    {
        if (services[0])
            return;
        if (!enter_wires(mtu_under_test)) {
            std::puts("\nnot run: services need root, or user namespaces, and the command ip");
            std::exit(0);
        }
        for (int i = 0; i < 2; i++)
            start(i);
        become_nobody();
        use(*services[0]);
    }

    void testRunEnded(const Catch::TestRunStats &) override
    {
        if (services[0] && setresuid(0, 0, 0) != 0) // who looks for leaks may not trace two users
            std::perror("setresuid");
        for (auto &service : services)
            service.reset();
    }

    static std::unique_ptr<Service> services[2];

private:
    static void start(int i)
    {
        const std::string interface = "unet" + std::to_string(i);

        std::vector<std::string> options = Service::at(interface);
        std::vector<std::string> wire = {"--wire", wire_under_test};
        if (std::string(wire_under_test) == "atm") {
            static AtmSwitch both;
            wire = both.options();
        }
        options.insert(options.end(), wire.begin(), wire.end());
        if (const std::string why = i == 0 ? why_not(interface, wire_under_test) : "";
            !why.empty()) {
            std::printf("\nnot run: %s\n", why.c_str());
            std::exit(0);
        }
        services[i] = std::make_unique<Service>(options);
    }
};
std::unique_ptr<Service> Namespace::services[2];
CATCH_REGISTER_LISTENER(Namespace)

void take_turns()
{
    static unsigned turn = 0;

    use(*Namespace::services[turn++ % 2]);
}

} // namespace

const Backend backend_under_test = {.name = "ni", .before_open = take_turns, .beside = true};
