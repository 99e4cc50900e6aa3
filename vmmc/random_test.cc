// SPDX-License-Identifier: BSD-3-Clause
//
// random_test.cc - random programs of two ranks, who send to each other, post, block and export
// anew, against a model: what the owner has let in is a prefix of what the sender has sent.
//
// Over windows bytes are in place before the owner counts them, so there each is sent once at most,
// and those that were not counted may have come or not.
//
// Every rank computes from the seed what the other one sends.  VMMC_SEED=N runs that program alone.
#include "links.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vmmc/vmmc.h>

using namespace world;

namespace {

enum { FIRST = 10, BUFFER = 30000, SENDS = 40 };
constexpr uint64_t NAME = 5;

struct Send {
    uint64_t offset;
    size_t n;
    bool notify;
    uint64_t contents; // seed of its pattern
};

// What a rank sends in a program.
std::vector<Send> script(uint32_t seed, uint32_t rank)
{
    std::mt19937_64 random(seed * 2 + rank);
    std::vector<Send> all;
    uint64_t next = 0;

    for (int i = 0; i < SENDS; i++) {
        const size_t most = random() % 3 == 0 ? 12000 : random() % 2 ? 32 : 2000;
        Send s = {0, random() % (most + 1), random() % 2 == 0, random()};

        // Mostly a stream, as redirection is for, sometimes anywhere.
        s.offset = random() % 4 && next + s.n <= BUFFER ? next : random() % (BUFFER - s.n + 1);
        next = s.offset + s.n;
        all.push_back(s);
    }
    return all;
}

// The same where no byte is sent twice: parts of the buffer, most of them in order.
std::vector<Send> script_once(uint32_t seed, uint32_t rank)
{
    std::mt19937_64 random(seed * 2 + rank);
    std::vector<Send> all;

    for (uint64_t next = 0; next < BUFFER;) {
        const uint64_t most = random() % 3 == 0 ? 12000 : random() % 2 ? 32 : 2000;
        const uint64_t n = std::min(random() % (most + 1), BUFFER - next);

        all.push_back({next, n, random() % 2 == 0, random()});
        next += n;
    }
    for (size_t k = 1; k < all.size(); k++)
        if (random() % 4 == 0)
            std::swap(all[k - 1], all[k]);
    return all;
}

class Program {
public:
    Program(Rank &r, uint32_t seed, bool windows)
        : r_(r), random_(seed * 7 + r.me), seed_(seed), windows_(windows),
          mine_((windows ? script_once : script)(seed, r.me)),
          theirs_((windows ? script_once : script)(seed, r.right())), model_(BUFFER, 0),
          buffer_(BUFFER), to_(BUFFER)
    {
        buffer_.clear();
        check("open", vmmc_open(r.g, FIRST, &v_), 0);
        check("export",
              vmmc_export(v_, NAME, seed, r.right(), buffer_.data(), BUFFER, VMMC_REDIRECTABLE,
                          notified, this, &e_),
              0);
        r.barrier();
        check("import", vmmc_import(v_, r.right(), NAME, seed, -1, &i_, nullptr), 0);
    }
    ~Program() { vmmc_close(v_); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    void run()
    {
        const uint64_t all = bytes(theirs_);

        for (size_t sent = 0; sent < mine_.size();) {
            if (random_() % 2)
                send(mine_[sent++]);
            act();
        }
        while (blocked_ > 0)
            unblock();
        r_.until("the end of a program", [&] {
            act();
            vmmc_poll(v_);
            if (vmmc_arrived(e_) < all)
                return false;
            while (blocked_ > 0)
                unblock();
            return notified_ == std::count_if(theirs_.begin(), theirs_.end(),
                                              [](const Send &s) { return s.notify; });
        });
        end_posting();
        check_memory();
        r_.barrier();
    }

private:
    void check(const char *what, long seen, long wanted)
    {
        r_.expect("program of VMMC_SEED=" + std::to_string(seed_) + ": " + what, seen, wanted);
    }
    static uint64_t bytes(const std::vector<Send> &sends)
    {
        uint64_t n = 0;

        for (const Send &s : sends)
            n += s.n;
        return n;
    }
    void send(const Send &s)
    {
        std::vector<uint8_t> from(s.n + 1);

        for (size_t k = 0; k < s.n; k++)
            from[k] = pattern(s.contents, k);
        check("a send beyond the buffer", vmmc_send(i_, BUFFER - s.n + 1, from.data(), s.n, 0, 0),
              -EINVAL);
        check("send", vmmc_send(i_, s.offset, from.data(), s.n, s.notify ? VMMC_NOTIFY : 0, 0), 0);
    }
    // In order, and not before its bytes.
    static void notified(vmmc_exported *e, void *arg, const vmmc_notification *n)
    {
        auto &p = *static_cast<Program *>(arg);
        uint64_t before = 0;

        while (p.next_ < p.theirs_.size() && !p.theirs_[p.next_].notify)
            p.next_++;
        if (p.next_ == p.theirs_.size()) {
            self().fail("a notification too many");
            return;
        }
        const Send &s = p.theirs_[p.next_++];
        for (size_t k = 0; k < p.next_; k++)
            before += p.theirs_[k].n;
        self().note("offset notified", n->offset, s.offset);
        self().note("length notified", n->length, s.n);
        self().note("bytes come first", vmmc_arrived(e) >= before, true);
        self().note("blocked", p.blocked_, 0);
        p.notified_++;
    }
    void unblock()
    {
        blocked_--;
        vmmc_unblock(v_);
    }
    void act()
    {
        switch (random_() % 8) {
        case 0:
            post();
            break;
        case 1:
            end_posting();
            break;
        case 2:
            check_memory();
            break;
        case 3:
            vmmc_block(v_);
            blocked_++;
            break;
        case 4:
            if (blocked_ > 0)
                unblock();
            break;
        default:
            vmmc_poll(v_);
        }
    }
    void post()
    {
        if (posted_)
            return;
        check_memory();
        at_ = random_() % BUFFER;
        n_ = 1 + random_() % (BUFFER - at_);
        to_.fill(CANARY);
        model_to_.assign(to_.data(), to_.data() + n_);
        begin_ = end_ = 0;
        check("post", vmmc_redirect(e_, at_, to_.data(), n_), 0);
        posted_ = true;
    }
    // Then the buffer has all that has come.
    void end_posting()
    {
        vmmc_redirected r = {};

        if (!posted_)
            return;
        check_memory();
        check("end", vmmc_redirect_end(e_, &r), 0);
        std::memcpy(buffer_.data() + at_ + r.first, to_.data() + r.first, r.placed);
        std::memcpy(&model_[at_ + r.first], &model_to_[r.first], r.placed);
        posted_ = false;
        check_memory();
    }
    // Where the next byte for this offset belongs: to the posted memory if it touches what has come
    // there, until that is full.
    uint8_t &model_place(uint64_t offset)
    {
        if (!posted_ || offset < at_ || offset >= at_ + n_)
            return model_[offset];
        const size_t k = offset - at_;

        if (begin_ == end_)
            begin_ = end_ = k;
        if (k < begin_ || k > end_ || end_ - begin_ == n_)
            return model_[offset];
        end_ = std::max(end_, k + 1);
        return model_to_[k];
    }
    // Bring the model to what has arrived.
    void advance()
    {
        const uint64_t arrived = vmmc_arrived(e_);

        while (modelled_ < arrived) {
            const Send &s = theirs_[message_];

            if (within_ == s.n) {
                message_++;
                within_ = 0;
                continue;
            }
            model_place(s.offset + within_) = pattern(s.contents, within_);
            within_++;
            modelled_++;
        }
    }
    // Where the sender may be copying: what was counted is in place.
    void check_counted()
    {
        uint64_t left = vmmc_arrived(e_);
        vmmc_redirected r = {};

        if (posted_)
            check("look", vmmc_redirect_look(e_, &r), 0);
        for (const Send &s : theirs_) {
            for (size_t k = 0; k < s.n && left > 0; k++, left--) {
                const uint64_t at = s.offset + k;
                const bool placed = posted_ && at >= at_ + r.first && at < at_ + r.first + r.placed;

                if ((placed ? to_.data()[at - at_] : buffer_.data()[at]) != pattern(s.contents, k))
                    check("a byte that was counted is not there", static_cast<long>(at), -1);
            }
        }
    }
    void check_memory()
    {
        if (windows_)
            return check_counted();
        advance();
        check_same("the buffer", buffer_.data(), model_);
        if (!posted_)
            return;
        vmmc_redirected r = {};

        check("look", vmmc_redirect_look(e_, &r), 0);
        check("placed", static_cast<long>(r.placed), static_cast<long>(end_ - begin_));
        check("first", static_cast<long>(r.first), static_cast<long>(r.placed ? begin_ : n_));
        check("last", static_cast<long>(r.last), static_cast<long>(r.placed ? n_ - end_ : 0));
        check_same("the posted memory", to_.data(), model_to_);
    }
    void check_same(const char *what, const uint8_t *seen, const std::vector<uint8_t> &wanted)
    {
        const auto differ = std::mismatch(wanted.begin(), wanted.end(), seen);

        check((std::string("the first byte of ") + what + " unlike the model's").c_str(),
              differ.first == wanted.end() ? -1 : differ.first - wanted.begin(), -1);
    }

    static constexpr uint64_t CANARY = 77;
    Rank &r_;
    std::mt19937_64 random_;
    uint32_t seed_;
    bool windows_;
    std::vector<Send> mine_, theirs_;
    std::vector<uint8_t> model_, model_to_; // the buffer, and the posted memory
    Guarded buffer_, to_;
    vmmc *v_ = nullptr;
    vmmc_exported *e_ = nullptr;
    vmmc_imported *i_ = nullptr;
    bool posted_ = false;
    uint64_t at_ = 0, modelled_ = 0;
    size_t n_ = 0, message_ = 0, within_ = 0, next_ = 0;
    size_t begin_ = 0, end_ = 0; // of what has come to the posted memory
    long notified_ = 0;
    int blocked_ = 0;
};

void run_programs(const std::string &link, uint32_t first, uint32_t count)
{
    const char *told = std::getenv("VMMC_SEED");

    if (told) {
        first = static_cast<uint32_t>(std::strtoul(told, nullptr, 10));
        count = 1;
    }
    links::run_link(link, 2, [=](Rank &r) {
        for (uint32_t seed = first; seed < first + count; seed++) {
            Program program(r, seed, link == "windows");
            program.run();
        }
    });
}

} // namespace

TEST_CASE("random programs agree with the model")
{
    uint32_t first = 1;

    for (const std::string link : {VMMC_LINKS}) {
        run_programs(link, first, link == "windows" ? 300 : link == "shm" ? 30 : 10);
        first += 300;
    }
}

TEST_CASE("1,000 random programs agree with the model on each link", "[long]")
{
    for (const char *link : {VMMC_LINKS})
        run_programs(link, 1000, 1000);
}
