// SPDX-License-Identifier: BSD-3-Clause
//
// Any cells at all of one channel.  The input is a series of cells: a byte of what is special about
// it, of which bit 0 is that it is the last of its PDU and bit 1 that its CRC-32 is made right (or
// no input would ever get past that), and 48 of payload.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "datagram/atm/aal5.h"
}

namespace {

enum { LAST = 1, RIGHT = 2 };

// What reassembly is compared with: it keeps all cells of a PDU.
struct Model {
    std::vector<uint8_t> bytes;

    bool is_good() const
    {
        const size_t n = bytes.size();
        const size_t length = n < 8 ? 0 : size_t{bytes[n - 6]} << 8 | bytes[n - 5];

        return n <= AAL5_ROOM && length > 0 && (length + 8 + 47) / 48 * 48 == n &&
               unet_aal5_crc_bytes(~0u, bytes.data(), n) == AAL5_RESIDUE;
    }
    void make_right()
    {
        const size_t end = bytes.size() - 4;
        const uint32_t crc = ~unet_aal5_crc_bytes(~0u, bytes.data(), end);

        for (int k = 0; k < 4; k++)
            bytes[end + k] = static_cast<uint8_t>(crc >> (24 - 8 * k));
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<uint8_t> buffer(AAL5_ROOM);
    aal5_reassembly in = {buffer.data(), 0, false};
    aal5_pdu pdu;
    Model model;

    unet_aal5_init();
    for (; size >= 1 + ATM_PAYLOAD; data += 1 + ATM_PAYLOAD, size -= 1 + ATM_PAYLOAD) {
        uint8_t payload[ATM_PAYLOAD];

        model.bytes.insert(model.bytes.end(), data + 1, data + 1 + ATM_PAYLOAD);
        if (*data & RIGHT)
            model.make_right();
        std::copy(model.bytes.end() - ATM_PAYLOAD, model.bytes.end(), payload);
        const int result = unet_aal5_take(&in, payload, *data & LAST, &pdu);
        if (result > 1 || (result != 0 && !(*data & LAST)))
            std::abort();
        if (!(*data & LAST))
            continue;
        if ((result == 1) != model.is_good())
            std::abort();
        if (result == 1 && (pdu.length > model.bytes.size() ||
                            std::memcmp(pdu.bytes, model.bytes.data(), pdu.length) != 0))
            std::abort();
        model.bytes.clear();
    }
    return 0;
}
