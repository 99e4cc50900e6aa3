// SPDX-License-Identifier: BSD-3-Clause
#include "teams.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace random_program {
namespace {

// ---- the model ------------------------------------------------------------------------------

// An element of any of the types; of a map both parts are used.
struct Element {
    int64_t whole = 0;
    double real = 0;
    uint16_t a = 0, b = 0;
};

Element filled(ArrayType type, long number, long i)
{
    Element e;
    e.whole = number * 1000003 + i * 7919;
    if (type == ArrayType::Short)
        e.whole = static_cast<int16_t>(e.whole);
    e.real = 0.5 * static_cast<double>(number) + static_cast<double>(i);
    e.a = static_cast<uint16_t>(number * 2 + 1 + i);
    e.b = static_cast<uint16_t>(number + 3 * i);
    return e;
}

Element combined(ArrayType type, long with, const Element &x, const Element &y)
{
    Element e;
    if (type == ArrayType::Map) {
        e.a = static_cast<uint16_t>(x.a * y.a);
        e.b = static_cast<uint16_t>(y.a * x.b + y.b);
    } else if (type == ArrayType::Double) {
        e.real = with == 1   ? std::min(x.real, y.real)
                 : with == 2 ? std::max(x.real, y.real)
                             : x.real + y.real;
    } else {
        e.whole = with == 0   ? static_cast<int64_t>(static_cast<uint64_t>(x.whole) +
                                                   static_cast<uint64_t>(y.whole))
                  : with == 1 ? std::min(x.whole, y.whole)
                  : with == 2 ? std::max(x.whole, y.whole)
                              : x.whole ^ y.whole;
        if (type == ArrayType::Short)
            e.whole = static_cast<int16_t>(e.whole);
    }
    return e;
}

long folded(ArrayType type, const std::vector<Element> &result)
{
    uint64_t sum = 17;
    for (const Element &e : result) {
        const uint64_t one = type == ArrayType::Map ? (static_cast<uint64_t>(e.a) << 16) + e.b
                             : type == ArrayType::Double
                                 ? static_cast<uint64_t>(static_cast<int64_t>(2 * e.real))
                                 : static_cast<uint64_t>(e.whole);
        sum = sum * 31 + one;
    }
    return static_cast<long>(sum % 1000003);
}

// One team's call: the numbers of its members, and where this one is.
class Call {
public:
    Call(const ArrayCall &call, std::vector<long> numbers, long at)
        : call_(call), numbers_(std::move(numbers)), at_(at)
    {
    }
    std::vector<Element> result() const;

private:
    long size() const { return static_cast<long>(numbers_.size()); }
    Element of(long m, long i) const { return filled(call_.type, numbers_[m], i); }
    std::vector<Element> block(long m, long first, long count) const;
    std::vector<Element> reduced(long from, long to) const;
    std::vector<Element> some(const std::function<long(long)> &count,
                              const std::function<long(long)> &first) const;

    ArrayCall call_;
    std::vector<long> numbers_;
    long at_;
};

std::vector<Element> Call::block(long m, long first, long count) const
{
    std::vector<Element> all;
    for (long i = 0; i < count; i++)
        all.push_back(of(m, first + i));
    return all;
}

// The combination of members [from, to).
std::vector<Element> Call::reduced(long from, long to) const
{
    std::vector<Element> all = block(from, 0, call_.count);
    for (long m = from + 1; m < to; m++)
        for (long i = 0; i < call_.count; i++)
            all[i] = combined(call_.type, call_.with, all[i], of(m, i));
    return all;
}

// Of each member so many elements, from one on.
std::vector<Element> Call::some(const std::function<long(long)> &count,
                                const std::function<long(long)> &first) const
{
    std::vector<Element> all;
    for (long m = 0; m < size(); m++) {
        const std::vector<Element> one = block(m, first(m), count(m));
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

// How much member m sends member k where blocks are unequal.
long unequal(long count, long m, long k)
{
    return count * ((m + 2 * k) % 3) / 2;
}

std::vector<Element> Call::result() const
{
    const long n = call_.count, root = call_.root % size();
    auto equal = [n](long) { return n; };
    auto start = [](long) { return 0L; };
    switch (call_.op) {
    case ArrayOp::Broadcast:
        return block(root, 0, n);
    case ArrayOp::Reduce:
        return at_ == root ? reduced(0, size()) : std::vector<Element>();
    case ArrayOp::Allreduce:
        return reduced(0, size());
    case ArrayOp::Scan:
        return reduced(0, at_ + 1);
    case ArrayOp::Exscan:
        return at_ > 0 ? reduced(0, at_) : std::vector<Element>();
    case ArrayOp::Gather:
        return at_ == root ? some(equal, start) : std::vector<Element>();
    case ArrayOp::Allgather:
        return some(equal, start);
    case ArrayOp::Scatter:
        return block(root, at_ * n, n);
    case ArrayOp::Alltoall:
        return some(equal, [&](long) { return at_ * n; });
    case ArrayOp::Gatherv:
        return at_ == root ? some([&](long m) { return unequal(n, m, 0); }, start)
                           : std::vector<Element>();
    default: // Alltoallv
        return some([&](long m) { return unequal(n, m, at_); }, [&](long) { return at_ * n; });
    }
}

} // namespace

std::vector<int> members_of(const std::vector<Team> &teams, int team, int rank, int procs)
{
    std::vector<int> members(procs);
    if (team == 0) {
        std::iota(members.begin(), members.end(), 0);
        return members;
    }
    const Team &t = teams[team];
    auto is_out = [&](int p) { return t.none > 0 && p % t.none == 1; };
    auto colour = [&](int p) { return (p + t.shift) % t.colours - t.below; };
    auto key = [&](int p) { return p * t.factor % t.keys - 1; };
    members = members_of(teams, t.parent, rank, procs);
    const bool is_in = std::find(members.begin(), members.end(), rank) != members.end();
    if (!is_in || is_out(rank))
        return {};
    std::erase_if(members, [&](int p) { return is_out(p) || colour(p) != colour(rank); });
    std::stable_sort(members.begin(), members.end(), [&](int p, int q) { return key(p) < key(q); });
    return members;
}

std::vector<long> results_of(const std::vector<Team> &teams, const ArrayCall &call,
                             const std::vector<long> &numbers)
{
    const int procs = static_cast<int>(numbers.size());
    std::vector<long> results;
    for (int rank = 0; rank < procs; rank++) {
        const std::vector<int> members = members_of(teams, call.team, rank, procs);
        std::vector<long> theirs;
        for (int member : members)
            theirs.push_back(numbers[member]);
        const long at = std::find(members.begin(), members.end(), rank) - members.begin();
        results.push_back(members.empty() ? -1
                                          : folded(call.type, Call(call, theirs, at).result()));
    }
    return results;
}

// ---- the text
// ------------------------------------------------------------------------------------

namespace {

// What the program needs for one type; TYPE, NAME, FILL, WITH and FOLD are replaced.
const char *const of_type = R"(
static struct { TYPE x[9000], y[9000]; splitc_team *t; int op, size, at; long n, root; } NAME_[2];
static void NAME_begin(int k, splitc_team *t, int op, int number, long n, long root, int with, int split)
{
    long i, out[64], out_at[64], in[64], in_at[64];
    int m;
    TYPE *x = NAME_[k].x, *y = NAME_[k].y;
    NAME_[k].t = t, NAME_[k].op = op, NAME_[k].n = n;
    if (!t)
        return;
    NAME_[k].size = team_size(t), NAME_[k].at = team_rank(t);
    NAME_[k].root = root = root % team_size(t);
    for (i = 0; i < n * team_size(t); i++)
        FILL;
    if (op == 0)
        for (i = 0; i < n; i++)
            y[i] = x[i];
    for (m = 0, i = 0; m < team_size(t); m++) {
        in[m] = op == 9 ? unequal_(n, m, 0) : unequal_(n, m, team_rank(t));
        in_at[m] = i;
        i += in[m];
        out[m] = unequal_(n, team_rank(t), m);
        out_at[m] = m * n;
    }
    switch (2 * op + split) {
    case 0: team_broadcast(t, y, n, root); break;
    case 1: team_broadcast_begin(t, y, n, root); break;
    case 2: team_reduce(t, y, x, n, WITH, root); break;
    case 3: team_reduce_begin(t, y, x, n, WITH, root); break;
    case 4: team_allreduce(t, y, x, n, WITH); break;
    case 5: team_allreduce_begin(t, y, x, n, WITH); break;
    case 6: team_scan(t, y, x, n, WITH); break;
    case 7: team_scan_begin(t, y, x, n, WITH); break;
    case 8: team_exscan(t, y, x, n, WITH); break;
    case 9: team_exscan_begin(t, y, x, n, WITH); break;
    case 10: team_gather(t, y, x, n, root); break;
    case 11: team_gather_begin(t, y, x, n, root); break;
    case 12: team_allgather(t, y, x, n); break;
    case 13: team_allgather_begin(t, y, x, n); break;
    case 14: team_scatter(t, y, x, n, root); break;
    case 15: team_scatter_begin(t, y, x, n, root); break;
    case 16: team_alltoall(t, y, x, n); break;
    case 17: team_alltoall_begin(t, y, x, n); break;
    case 18: case 19: /* the lists are of this function, so these are complete when it returns */
        sync_h(team_gatherv_begin(t, y, in, in_at, x, unequal_(n, team_rank(t), 0), root));
        break;
    case 20: team_alltoallv(t, y, in, in_at, x, out, out_at); break;
    default: sync_h(team_alltoallv_begin(t, y, in, in_at, x, out, out_at));
    }
}
static int NAME_end(int k)
{
    int m, size = NAME_[k].size, at = NAME_[k].at, op = NAME_[k].op;
    long i, n = NAME_[k].n, count = n;
    unsigned long sum = 17;
    TYPE *y = NAME_[k].y;
    sync();
    if (!NAME_[k].t)
        return -1;
    if (op == 5 || op == 6 || op == 8)
        count = n * size;
    if ((op == 1 || op == 5 || op == 9) && at != NAME_[k].root || op == 4 && at == 0)
        count = 0;
    else if (op == 9 || op == 10)
        for (m = 0, count = 0; m < size; m++)
            count += unequal_(n, m, op == 9 ? 0 : at);
    for (i = 0; i < count; i++)
        sum = sum * 31 + (unsigned long)(FOLD);
    return sum % 1000003;
}
)";

std::string replaced(std::string text, const std::string &word, const std::string &by)
{
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
}

std::string of(const std::string &type, const std::string &name, const std::string &fill,
               const std::string &with, const std::string &fold)
{
    std::string text = replaced(of_type, "TYPE", type);
    text = replaced(text, "FILL", fill);
    text = replaced(text, "WITH", with);
    text = replaced(text, "FOLD", fold);
    return replaced(text, "NAME", name);
}

std::string name_of(ArrayType type)
{
    static const std::vector<std::string> names{"long", "short", "real", "map"};
    return names[static_cast<size_t>(type)];
}

std::string team_name(int team)
{
    return team == 0 ? "TEAM_ALL" : "team" + std::to_string(team) + "_";
}

} // namespace

std::string teams_prologue(size_t teams, const std::set<ArrayType> &types)
{
    if (teams == 1 && types.empty())
        return {};
    std::string text = "#include <split-c/collective.h>\n\n";
    for (size_t i = 1; i < teams; i++)
        text += "static splitc_team *" + team_name(static_cast<int>(i)) + ";\n";
    text += R"(
struct map_ { unsigned short a, b; };
static void follow_(void *acc, const void *next, long count)
{
    struct map_ *f = acc;
    const struct map_ *g = next;
    long i;
    for (i = 0; i < count; i++) {
        f[i].b = (unsigned)g[i].a * f[i].b + g[i].b;
        f[i].a = (unsigned)f[i].a * g[i].a;
    }
}
static long unequal_(long n, int m, int k)
{
    return n * ((m + 2 * k) % 3) / 2;
}
static team_operator *with_(int with)
{
    return with == 0 ? TEAM_ADD : with == 1 ? TEAM_MIN : with == 2 ? TEAM_MAX : TEAM_XOR;
}
)";
    if (types.count(ArrayType::Long))
        text += of("long", "long", "x[i] = number * 1000003L + i * 7919", "with_(with)", "y[i]");
    if (types.count(ArrayType::Short))
        text += of("short", "short", "x[i] = number * 1000003L + i * 7919", "with_(with)",
                   "(long)y[i]");
    if (types.count(ArrayType::Double))
        text += of("double", "real", "x[i] = 0.5 * number + i", "with_(with)", "(long)(2 * y[i])");
    if (types.count(ArrayType::Map))
        text += of("struct map_", "map", "x[i].a = number * 2 + 1 + i, x[i].b = number + 3 * i",
                   "follow_", "((unsigned long)y[i].a << 16) + y[i].b");
    return text + "\n";
}

std::vector<std::string> teams_made(const std::vector<Team> &teams)
{
    std::vector<std::string> lines;
    for (size_t i = 1; i < teams.size(); i++) {
        const Team &t = teams[i];
        std::string colour = "(MYPROC + " + std::to_string(t.shift) + ") % " +
                             std::to_string(t.colours) + " - " + std::to_string(t.below);
        if (t.none > 0)
            colour = "MYPROC % " + std::to_string(t.none) + " == 1 ? TEAM_NONE : " + colour;
        const std::string parent = team_name(t.parent);
        std::string key =
            "MYPROC * " + std::to_string(t.factor) + " % " + std::to_string(t.keys) + " - 1";
        std::string line = team_name(static_cast<int>(i)) + " = ";
        line += t.parent == 0 ? "all_split(" : parent + " ? team_split(" + parent + ", ";
        line += colour + ", " + key + ")";
        lines.push_back(line + (t.parent == 0 ? ";" : " : NULL;"));
    }
    return lines;
}

std::vector<std::string> teams_freed(size_t teams)
{
    std::vector<std::string> lines;
    for (size_t i = 1; i < teams; i++)
        lines.push_back("team_free(" + team_name(static_cast<int>(i)) + ");");
    return lines;
}

std::string call_begun(const ArrayCall &call, const std::string &number)
{
    return name_of(call.type) + "_begin(" + std::to_string(call.place) + ", " +
           team_name(call.team) + ", " + std::to_string(static_cast<int>(call.op)) + ", " + number +
           ", " + std::to_string(call.count) + ", " + std::to_string(call.root) + ", " +
           std::to_string(call.with) + ", " + (call.split ? "1" : "0") + ");";
}

std::string call_ended(const ArrayCall &call)
{
    return name_of(call.type) + "_end(" + std::to_string(call.place) + ")";
}

} // namespace random_program
