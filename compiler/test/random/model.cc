// SPDX-License-Identifier: BSD-3-Clause
//
// The sequential model says what a random program prints.  It interprets the program's tree, in
// each phase one processor after the other, and shares nothing with the compiler or the runtime.
#include "numbers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>

namespace random_program {
namespace {

struct Pointer {
    int object = -1; // none: the null pointer
    int rank = 0;
    long slot = 0;
};

struct Value {
    Number number;
    Pointer pointer;
};

struct Slot {
    Value value;
    bool defined = false;
    long written = -1, read = -1, added = -1; // the last phase
    int writer = -1, reader = -1;             // the processor; -2 if several have read it
};

struct Object {
    const Variable *variable;
    std::vector<std::vector<Slot>> ranks;
};

enum class Way { On, Break, Continue, Goto, Return };

[[noreturn]] void wrong(const std::string &what)
{
    throw std::logic_error("the generator made a wrong program: " + what);
}

class Model {
public:
    Model(const Program &program, int procs) : program_(program), procs_(procs) {}
    std::string run();

private:
    int create(const Variable &variable);
    Object &object(const Variable &variable);
    Slot &slot(const Pointer &at);
    Value read(const Pointer &at);
    void write(const Pointer &at, const Value &value);

    Value eval(const Expr &e);
    Value binary_value(const Node &n);
    Value assign(const Node &n);
    Value step(const Node &n);
    Value fetch_add(const Node &n);
    Number number(const Expr &e, const Type *type);
    long whole(const Expr &e) { return number(e, &basic::Long).whole; }
    bool holds(const Expr &e);
    Pointer locate(const Expr &e);
    Pointer element(const Node &n);
    Pointer moved(const Pointer &from, long by, const Type &type) const;
    long distance(const Pointer &a, const Pointer &b, const Type &type) const;
    void store(const Node &place, const Pointer &at, const Number &number, const Type &type);
    void transfer(const Expr &to, const Expr &from);
    void copy(const Pointer &to, const Pointer &from, long slots);

    void private_body(const Body &body);
    void private_statement(const Statement &s);
    void private_for(const Statement &s);
    void bulk(const Statement &s);
    Way uniform_body(const Body &body);
    Way uniform_statement(const Statement &s);
    Way uniform_for(const Statement &s);
    Way scope(const Statement &s);
    void on_all(const std::function<void()> &what);
    bool all_hold(const Expr &e);
    void collective(const Statement &s);
    void array_collective(const Statement &s);
    void call(const Statement &s);
    void dump(const Variable &variable);
    void print_locals(const Statement &s);
    void set(const Variable &variable, const Number &number);

    const Program &program_;
    const int procs_;
    int rank_ = 0;
    long phase_ = 0;
    std::vector<Object> objects_;
    std::map<const Variable *, int> bound_;
    std::string label_; // the label of a Way::Goto
    Expr returned_;
    std::vector<std::string> lines_;
};

// ---- memory

int Model::create(const Variable &variable)
{
    long block = product(variable.block, procs_) * variable.type->slots;
    long rows =
        variable.home == Home::Spread ? (variable.elements(procs_) + procs_ - 1) / procs_ : 1;
    Object made{&variable, {}};
    made.ranks.resize(procs_, std::vector<Slot>(rows * block));
    bool has_start = variable.home == Home::Private && variable.block.empty() &&
                     variable.type->kind != Kind::Real;
    // Static storage is initialized, and so are private variables that are no arrays.
    if (has_start || variable.home == Home::Static)
        for (auto &memory : made.ranks)
            for (Slot &s : memory)
                s.value.number.whole = variable.start, s.defined = true;
    objects_.push_back(std::move(made));
    return bound_[&variable] = static_cast<int>(objects_.size() - 1);
}

Object &Model::object(const Variable &variable)
{
    auto found = bound_.find(&variable);
    if (found == bound_.end())
        wrong(variable.name + " is used where it does not exist");
    return objects_[found->second];
}

Slot &Model::slot(const Pointer &at)
{
    if (at.object < 0)
        wrong("NULL is followed");
    Object &object = objects_[at.object];
    if (at.rank < 0 || at.rank >= procs_ || at.slot < 0 ||
        at.slot >= static_cast<long>(object.ranks[at.rank].size()))
        wrong("outside of " + object.variable->name);
    return object.ranks[at.rank][at.slot];
}

Value Model::read(const Pointer &at)
{
    Slot &s = slot(at);
    const std::string &name = objects_[at.object].variable->name;
    if (!s.defined)
        wrong(name + " is read before it is written");
    if ((s.written == phase_ && s.writer != rank_) || s.added == phase_)
        wrong("race: " + name + " is read");
    s.reader = s.read == phase_ && s.reader != rank_ ? -2 : rank_;
    s.read = phase_;
    return s.value;
}

void Model::write(const Pointer &at, const Value &value)
{
    Slot &s = slot(at);
    if ((s.written == phase_ && s.writer != rank_) || (s.read == phase_ && s.reader != rank_) ||
        s.added == phase_)
        wrong("race: " + objects_[at.object].variable->name + " is written");
    s.written = phase_;
    s.writer = rank_;
    s.value = value;
    s.defined = true;
}

void Model::copy(const Pointer &to, const Pointer &from, long slots)
{
    std::vector<Value> values;
    for (long i = 0; i < slots; i++)
        values.push_back(read({from.object, from.rank, from.slot + i}));
    for (long i = 0; i < slots; i++)
        write({to.object, to.rank, to.slot + i}, values[i]);
}

// ---- pointers

long step_slots(const Type &pointer)
{
    return product(pointer.block, 0) * pointer.target->slots;
}

Pointer Model::moved(const Pointer &from, long by, const Type &type) const
{
    Pointer to = from;
    if (type.space == Space::Global) {
        to.slot += by * step_slots(type);
        return to;
    }
    long at = from.rank + by;
    long row = at >= 0 ? at / procs_ : -((-at + procs_ - 1) / procs_);
    to.rank = static_cast<int>(at - row * procs_);
    to.slot += row * step_slots(type);
    return to;
}

long Model::distance(const Pointer &a, const Pointer &b, const Type &type) const
{
    long rows = (a.slot - b.slot) / step_slots(type);
    return type.space == Space::Global ? rows : rows * procs_ + a.rank - b.rank;
}

Pointer Model::element(const Node &n)
{
    Object &array = object(*n.variable);
    long position = 0;
    for (size_t i = 0; i < n.kids.size(); i++) {
        long size = n.variable->spread[i].value(procs_), index = whole(n.kids[i]);
        if (index < 0 || index >= size)
            wrong("index " + std::to_string(index) + " of " + n.variable->name);
        position = position * size + index;
    }
    long block = product(n.variable->block, procs_) * n.variable->type->slots;
    return {static_cast<int>(&array - objects_.data()), static_cast<int>(position % procs_),
            position / procs_ * block};
}

Pointer Model::locate(const Expr &e)
{
    const Node &n = *e;
    switch (n.op) {
    case Op::Name:
        return {static_cast<int>(&object(*n.variable) - objects_.data()), rank_, 0};
    case Op::Element:
        return element(n);
    case Op::Subscript: {
        Pointer at = locate(n.kids[0]);
        long size = n.kids[0]->block[0].value(procs_), index = whole(n.kids[1]);
        if (index < 0 || index >= size)
            wrong("index " + std::to_string(index) + " of a block");
        at.slot += index * product(n.block, procs_) * n.type->slots;
        return at;
    }
    case Op::MemberOf: {
        Pointer at = locate(n.kids[0]);
        at.slot += n.member->slot;
        return at;
    }
    case Op::Deref:
        return eval(n.kids[0]).pointer;
    case Op::PointerIndex:
        return moved(eval(n.kids[0]).pointer, whole(n.kids[1]), *n.kids[0]->type);
    case Op::Arrow: {
        Pointer at = eval(n.kids[0]).pointer;
        at.slot += n.member->slot;
        return at;
    }
    default:
        wrong("no place");
    }
}

// ---- expressions

Number Model::number(const Expr &e, const Type *type)
{
    return convert(eval(e).number, *e->type, *type);
}

bool Model::holds(const Expr &e)
{
    Number n = eval(e).number;
    return e->type->kind == Kind::Real ? n.real != 0 : n.whole != 0;
}

Value Model::binary_value(const Node &n)
{
    if (n.token == "&&" || n.token == "||") {
        bool a = holds(n.kids[0]);
        bool result = n.token == "&&" ? a && holds(n.kids[1]) : a || holds(n.kids[1]);
        return {{result, 0}, {}};
    }
    const Type *left = promoted(*n.kids[0]), *right = promoted(*n.kids[1]);
    const Type *type = is_shift(n.token) ? left : usual(left, right);
    Number a = number(n.kids[0], type);
    Number b = number(n.kids[1], is_shift(n.token) ? right : type);
    return {binary(n.token, a, b, *type), {}};
}

void Model::store(const Node &place, const Pointer &at, const Number &number, const Type &type)
{
    Number stored = convert(number, type, *place.type);
    if (is_bit_field(place))
        stored.whole = wrap(stored.whole, place.member->bits, place.type->is_signed);
    write(at, {stored, {}});
}

Value Model::assign(const Node &n)
{
    const Expr &place = n.kids[0], &value = n.kids[1];
    if (n.type->kind == Kind::Record) {
        copy(locate(place), locate(value), n.type->slots);
        return {};
    }
    Value right = eval(value);
    Pointer at = locate(place);
    if (n.type->kind == Kind::Pointer) {
        long by = right.number.whole;
        write(at, n.token.empty()
                      ? right
                      : Value{{}, moved(read(at).pointer, n.token == "-" ? -by : by, *n.type)});
    } else if (n.token.empty()) {
        store(*place, at, right.number, *value->type);
    } else {
        const Type *left = promoted(*place), *other = promoted(*value);
        const Type *type = is_shift(n.token) ? left : usual(left, other);
        Number a = convert(read(at).number, *place->type, *type);
        Number b = convert(right.number, *value->type, is_shift(n.token) ? *other : *type);
        store(*place, at, binary(n.token, a, b, *type), *type);
    }
    return read(at);
}

Value Model::step(const Node &n)
{
    const Expr &place = n.kids[0];
    Pointer at = locate(place);
    Value before = read(at);
    long by = n.token == "++" ? 1 : -1;
    if (n.type->kind == Kind::Pointer) {
        write(at, {{}, moved(before.pointer, by, *n.type)});
    } else {
        const Type *type = usual(promoted(*place), &basic::Int);
        Number a = convert(before.number, *n.type, *type);
        Number one = convert({by, 0}, basic::Int, *type);
        store(*place, at, binary("+", a, one, *type), *type);
    }
    return n.prefix ? read(at) : before;
}

// It is atomic at the owner, so several processors may do it in one phase.
Value Model::fetch_add(const Node &n)
{
    Slot &s = slot(eval(n.kids[0]).pointer);
    if (!s.defined || s.written == phase_ || s.read == phase_)
        wrong("race: fetch_add with plain accesses");
    Value before = s.value;
    s.value.number = binary("+", before.number, number(n.kids[1], n.type), *n.type);
    s.added = phase_;
    return before;
}

Value Model::eval(const Expr &e)
{
    const Node &n = *e;
    auto truth = [](bool b) { return Value{{b, 0}, {}}; };
    switch (n.op) {
    case Op::Constant:
        return {{n.value, 0}, {}};
    case Op::Half:
        return {{0, 0.5}, {}};
    case Op::Size:
        return {{n.block[0].value(procs_), 0}, {}};
    case Op::Null:
        return {};
    case Op::MyProc:
        return {{rank_, 0}, {}};
    case Op::Procs:
        return {{procs_, 0}, {}};
    case Op::Load:
        return read(locate(n.kids[0]));
    case Op::Cast:
        if (n.type->kind == Kind::Pointer)
            return eval(n.kids[0]);
        return {number(n.kids[0], n.type), {}};
    case Op::Unary: {
        Number a = number(n.kids[0], n.type);
        if (n.token == "!")
            return truth(!holds(n.kids[0]));
        long result =
            n.token == "-" ? static_cast<long>(-static_cast<unsigned long>(a.whole)) : ~a.whole;
        return {{wrap(result, 8 * n.type->size, n.type->is_signed), 0}, {}};
    }
    case Op::Binary:
        return binary_value(n);
    case Op::Conditional:
        return {number(n.kids[holds(n.kids[0]) ? 1 : 2], n.type), {}};
    case Op::Assign:
        return assign(n);
    case Op::Step:
        return step(n);
    case Op::FetchAdd:
        return fetch_add(n);
    case Op::AddressOf:
        return {{}, locate(n.kids[0])};
    case Op::Decay:
        return {{}, {static_cast<int>(&object(*n.variable) - objects_.data()), 0, 0}};
    case Op::PointerAdd: {
        long by = whole(n.kids[1]);
        return {{}, moved(eval(n.kids[0]).pointer, n.token == "-" ? -by : by, *n.type)};
    }
    case Op::PointerDifference:
        return {{distance(eval(n.kids[0]).pointer, eval(n.kids[1]).pointer, *n.kids[0]->type), 0},
                {}};
    case Op::PointerEqual: {
        Pointer a = eval(n.kids[0]).pointer, b = eval(n.kids[1]).pointer;
        bool same = a.object == b.object && a.rank == b.rank && a.slot == b.slot;
        return truth(same == (n.token == "=="));
    }
    case Op::ToGlobal: {
        Pointer at = locate(n.kids[1]);
        at.rank = static_cast<int>(whole(n.kids[0]));
        return {{}, at};
    }
    case Op::ToProc:
        return {{eval(n.kids[0]).pointer.rank, 0}, {}};
    default:
        wrong("no value");
    }
}

// ---- statements of one processor

void Model::private_body(const Body &body)
{
    for (const auto &s : body)
        private_statement(*s);
}

void Model::private_for(const Statement &s)
{
    const Pointer at{static_cast<int>(&object(*s.variable) - objects_.data()), rank_, 0};
    write(at, {number(s.exprs[0], &basic::Long), {}});
    while (read(at).number.whole < whole(s.exprs[1])) {
        private_body(s.body);
        write(at, {{read(at).number.whole + whole(s.exprs[2]), 0}, {}});
    }
}

// := and :- complete at once in this model.
void Model::transfer(const Expr &to, const Expr &from)
{
    if (to->type->kind == Kind::Record)
        return copy(locate(to), locate(from), to->type->slots);
    Value value = eval(from);
    if (to->type->kind == Kind::Pointer)
        return write(locate(to), value);
    store(*to, locate(to), value.number, *from->type);
}

void Model::bulk(const Statement &s)
{
    auto place = [&](const Expr &e) {
        // the name of a buffer, or a pointer
        return e->op == Op::Name ? locate(e) : eval(e).pointer;
    };
    copy(place(s.exprs[0]), place(s.exprs[1]), whole(s.exprs[2]) * s.variable->type->slots);
}

void Model::private_statement(const Statement &s)
{
    switch (s.what) {
    case Do::Evaluate:
        eval(s.exprs[0]);
        return;
    case Do::Get:
    case Do::Put:
    case Do::Store:
        return transfer(s.exprs[0], s.exprs[1]);
    case Do::Sync:
        return;
    case Do::Bulk:
        return bulk(s);
    case Do::If:
        return private_body(holds(s.exprs[0]) ? s.body : s.otherwise);
    case Do::For:
        return private_for(s);
    case Do::Declare: {
        Value first = eval(s.exprs[0]);
        if (bound_.find(s.variable) == bound_.end())
            create(*s.variable);
        write({bound_[s.variable], rank_, 0}, first);
        return private_body(s.body);
    }
    default:
        wrong("a statement for all inside a phase");
    }
}

// ---- statements of all processors

void Model::on_all(const std::function<void()> &what)
{
    for (rank_ = 0; rank_ < procs_; rank_++)
        what();
    rank_ = 0;
}

bool Model::all_hold(const Expr &e)
{
    int yes = 0;
    on_all([&] { yes += holds(e); });
    if (yes != 0 && yes != procs_)
        wrong("processors part company");
    return yes != 0;
}

Way Model::uniform_body(const Body &body)
{
    for (const auto &s : body) {
        Way way = uniform_statement(*s);
        if (way != Way::On)
            return way;
    }
    return Way::On;
}

Way Model::uniform_for(const Statement &s)
{
    on_all([&] { set(*s.variable, number(s.exprs[0], &basic::Long)); });
    auto less = std::make_shared<Node>(Node{Op::Binary, &basic::Int});
    auto name = std::make_shared<Node>(Node{Op::Name, s.variable->type});
    name->variable = s.variable;
    less->kids = {name, s.exprs[1]};
    less->token = "<";
    auto load = std::make_shared<Node>(Node{Op::Load, s.variable->type, {name}});
    less->kids[0] = load;
    while (all_hold(less)) {
        Way way = uniform_body(s.body);
        if (way == Way::Break)
            break;
        if (way == Way::Goto || way == Way::Return)
            return way;
        on_all([&] { set(*s.variable, {whole(load) + whole(s.exprs[2]), 0}); });
    }
    return Way::On;
}

Way Model::scope(const Statement &s)
{
    for (const Variable *array : s.variables)
        create(*array);
    Way way = uniform_body(s.body);
    for (const Variable *array : s.variables)
        bound_.erase(array);
    return way;
}

Way Model::uniform_statement(const Statement &s)
{
    switch (s.what) {
    case Do::Phase:
    case Do::StorePhase:
        on_all([&] { private_body(s.body); });
        phase_++;
        return Way::On;
    case Do::UniformFor:
        return uniform_for(s);
    case Do::UniformIf:
        return uniform_body(all_hold(s.exprs[0]) ? s.body : s.otherwise);
    case Do::Scope:
        return scope(s);
    case Do::Break:
        return Way::Break;
    case Do::Continue:
        return Way::Continue;
    case Do::Goto:
        label_ = s.token;
        return Way::Goto;
    case Do::Label: {
        Way way = uniform_body(s.body);
        return way == Way::Goto && label_ == s.token ? Way::On : way;
    }
    case Do::Return:
        returned_ = s.exprs[0];
        return Way::Return;
    case Do::Collective:
        collective(s);
        return Way::On;
    case Do::ArrayCollective:
        array_collective(s);
        return Way::On;
    case Do::Call:
        call(s);
        return Way::On;
    case Do::Dump:
        dump(*s.variable);
        phase_++;
        return Way::On;
    case Do::PrintLocals:
        on_all([&] { print_locals(s); });
        return Way::On;
    default:
        private_statement(s);
        return Way::On;
    }
}

void Model::set(const Variable &variable, const Number &number)
{
    write({static_cast<int>(&object(variable) - objects_.data()), rank_, 0}, {number, {}});
}

// all_reduce_to_all_add, all_scan_dmax and so on have the form TO_WHOM_WHAT.
void Model::collective(const Statement &s)
{
    const std::string &name = s.token, what = name.substr(name.size() - 3);
    const Type *type = s.exprs[0]->type;
    bool scan = name.find("scan") != std::string::npos;
    bool broadcast = name.find("bcast") != std::string::npos;
    bool to_one = name.find("to_one") != std::string::npos;
    std::vector<Number> values, results;
    on_all([&] { values.push_back(eval(s.exprs[0]).number); });
    results.push_back(values[0]);
    for (size_t i = 1; i < values.size(); i++) {
        Number a = results.back(), b = values[i];
        bool greater = binary(">", a, b, *type).whole;
        results.push_back(what == "add"                ? binary("+", a, b, *type)
                          : greater == (what == "max") ? a
                                                       : b);
    }
    on_all([&] {
        Number result = broadcast             ? values[0]
                        : scan                ? results[rank_]
                        : to_one && rank_ > 0 ? Number{}
                                              : results.back();
        set(*s.variable, convert(result, *type, *s.variable->type));
    });
}

// What its body does touches nothing of it.
void Model::array_collective(const Statement &s)
{
    std::vector<long> numbers;
    on_all([&] { numbers.push_back(number(s.exprs[0], &basic::Int).whole); });
    const std::vector<long> results = results_of(program_.teams, s.array, numbers);
    if (uniform_body(s.body) != Way::On)
        wrong("a jump out of an operation");
    on_all([&] {
        Number result;
        result.whole = results[rank_];
        set(*s.variable, convert(result, basic::Int, *s.variable->type));
    });
}

void Model::call(const Statement &s)
{
    const Function &f = *s.function;
    for (const Variable *local : f.locals)
        create(*local);
    for (size_t i = 0; i < f.parameters.size(); i++) {
        const Variable &parameter = *f.parameters[i];
        if (parameter.home == Home::Spread) {
            bound_[&parameter] = eval(s.exprs[i]).pointer.object;
        } else {
            create(parameter);
            on_all([&] { set(parameter, number(s.exprs[i], parameter.type)); });
        }
    }
    if (uniform_body(f.body) != Way::Return)
        wrong(f.name + " ends without a return");
    std::vector<Number> results;
    on_all([&] { results.push_back(number(returned_, s.variable->type)); });
    on_all([&] { set(*s.variable, results[rank_]); });
}

std::string shown(const Slot &s, const Type &type)
{
    std::array<char, 64> text;
    if (type.kind == Kind::Real)
        std::snprintf(text.data(), text.size(), " %a", s.value.number.real);
    else if (type.kind == Kind::Pointer)
        std::snprintf(text.data(), text.size(), " %d",
                      s.value.pointer.object < 0 ? -1 : s.value.pointer.rank);
    else
        std::snprintf(text.data(), text.size(), " %ld", s.value.number.whole);
    return text.data();
}

void scalars(const Type &type, std::vector<const Type *> &found)
{
    if (type.kind != Kind::Record) {
        found.push_back(&type);
        return;
    }
    for (const Member &member : type.members)
        for (int i = 0; i < std::max(member.count, 1); i++)
            scalars(*member.type, found);
}

void Model::dump(const Variable &variable)
{
    std::vector<const Type *> types;
    scalars(*variable.type, types);
    Object &all = object(variable);
    bool spread = variable.home == Home::Spread;
    long block = product(variable.block, procs_) * variable.type->slots;
    long count = spread ? variable.elements(procs_) : procs_;
    for (long e = 0; e < count; e++) {
        std::string text = variable.name + " " + std::to_string(e) + ":";
        for (long k = 0; k < block; k++) {
            const Slot &s = all.ranks[e % procs_][e / procs_ * block + k];
            if (!s.defined)
                wrong(variable.name + " is printed before it is written");
            text += shown(s, *types[k % types.size()]);
        }
        lines_.push_back(text);
    }
}

void Model::print_locals(const Statement &s)
{
    std::string text = "processor " + std::to_string(rank_) + ":";
    for (const Variable *variable : s.variables)
        text += " " + std::to_string(object(*variable).ranks[rank_][0].value.number.whole);
    lines_.push_back(text);
}

std::string Model::run()
{
    for (const Variable *variable : program_.globals)
        create(*variable);
    const Function &start = *program_.functions.back();
    for (const Variable *local : start.locals)
        create(*local);
    uniform_body(start.body);
    std::sort(lines_.begin(), lines_.end());
    std::string text;
    for (const std::string &line : lines_)
        text += line + "\n";
    return text;
}

} // namespace

std::string model_output(const Program &program, int procs)
{
    return Model(program, procs).run();
}

} // namespace random_program
