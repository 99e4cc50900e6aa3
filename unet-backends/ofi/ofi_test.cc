// SPDX-License-Identifier: BSD-3-Clause
//
// The suite runs over UNET_OFI_PROVIDER, or else tcp;ofi_rxm, which needs no hardware.
#include "conformance/harness.h"

#define CATCH_CONFIG_EXTERNAL_INTERFACES // for the listener
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

int probe()
{
    char network[UNET_NETWORK_MAX];

    return unet_probe(unet_backend("ofi"), network);
}

class Provider : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;

    void testRunStarting(const Catch::TestRunInfo &) override
    {
        setenv("UNET_OFI_PROVIDER", "tcp;ofi_rxm", 0);
    }
};
CATCH_REGISTER_LISTENER(Provider)

// Before the first endpoint.
void look()
{
    static const int error = probe();

    if (error == -ELIBACC || error == -ENODATA) {
        std::printf("\nnot run: no endpoint of ofi: %s\n", unet_remedy(unet_backend("ofi"), error));
        std::exit(0);
    }
}

} // namespace

const Backend backend_under_test = {"ofi", look, true};
