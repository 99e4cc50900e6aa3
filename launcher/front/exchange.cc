// SPDX-License-Identifier: BSD-3-Clause

#include "front/exchange.h"

namespace unetrun {

Exchange::Exchange(const Job &job, Branches &branches)
    : job_(job), branches_(branches),
      fences_(job.node_of, [&branches](std::uint32_t node) { return branches.branch_to(node); })
{
}

void Exchange::on_fence(std::uint32_t branch, const Fence &fence)
{
    for (const auto &[to, answer] : fences_.add(branch, fence).answers)
        branches_.tell(to, answer);
}

void Exchange::on_modex(std::uint32_t node, Modex modex)
{
    modex.node = node;
    if (modex.rank < job_.ranks())
        branches_.send(job_.node_of[modex.rank], modex);
    else
        branches_.send(node, ModexDone{modex.ticket, node, -1, {}});
}

void Exchange::on_modex_done(const ModexDone &done)
{
    branches_.send(done.node, done);
}

} // namespace unetrun
