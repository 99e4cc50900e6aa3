// SPDX-License-Identifier: BSD-3-Clause
//
// Makes random programs that have one meaning: no races, nothing out of bounds, no
// undefined behaviour but what -fwrapv defines.
//
// In each phase every array is read by all, or left alone, or *sliced*: each
// processor has elements of its own, which need not live with it.
#include "build.h"
#include "numbers.h"

#include <algorithm>
#include <functional>
#include <random>

namespace random_program {
namespace {

using Place = std::function<Expr()>; // spells a place, differently every time

// Which elements are whose: those L with (L - shift) % PROCS = MYPROC, or the
// MYPROC + shift'th of PROCS equal runs.
struct Slice {
    bool cyclic = true;
    long shift = 0;
};

class Generator {
public:
    explicit Generator(unsigned long seed) : random_(seed) {}
    Program run();

private:
    // random choices
    long below(long n) { return static_cast<long>(random_() % static_cast<unsigned long>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T> const T &pick(const std::vector<T> &all) { return all[below(all.size())]; }

    // types and variables
    const Type *pointer(Space space, const Type *target, std::vector<Dimension> block = {});
    const Type *number_type();
    const Type *element_type();
    void make_record();
    Dimension size(bool run_time, bool with_procs);
    Variable *variable(const std::string &name, const Type *type, Home home = Home::Private);
    Variable *array(const std::string &name, const Type *type, bool run_time);
    void make_globals();
    void start_function(Function &function);
    const Variable *buffer(const Type *type);

    // expressions
    Expr expr(int depth);
    Expr leaf_expr();
    Expr memory_expr();
    Expr binary_expr(int depth);
    Expr constant_expr();
    Expr number_of(const Expr &leaf);
    Expr real_expr(const Expr &leaf);
    Expr pointer_expr(const Type *type);
    Expr index(const Expr &size);
    Expr some_index(const Dimension &size) { return index(size_expr(size)); }
    Expr element(const Variable *array, const Expr &position);
    Expr static_element(const Variable *variable, const Expr &owner);
    Expr some_element(const Variable *object);
    Expr leaf(Expr place);
    Expr whole_element(Expr place);
    Expr member(const Expr &place, const Member &m);

    // statements of one processor
    Body phase_body();
    void add_sweep(Body &body, const Variable *object, bool only_stores);
    Statement sweep(const Variable *object, const Slice &slice,
                    const std::function<Body(Place)> &f);
    Body own_statements(const Variable *object, const Place &own);
    void write_leaf(Body &body, const Expr &place);
    void write_record(Body &body, const Place &own);
    void split_phase(Body &body, const Place &own);
    void with_pointer(Body &body, const Place &own);
    void bulk(Body &body, const Variable *object, const Place &own);
    void spread_walk(Body &body, const Variable *array);
    void private_statement(Body &body);
    void count(Body &body, const Variable *object);
    Body store_body(const Variable *object, const Place &own);
    void initialize(Body &body, const Variable *array);
    void initialize_leaves(Body &body, const Expr &place, const Type *type);

    // statements of all
    Body uniform_body(int depth, int statements);
    void uniform_statement(Body &body, int depth);
    void phase(Body &body);
    void initialization(Body &body, const Variable *array);
    void collective(Body &body);
    void loop(Body &body, int depth);
    void jump_out(Body &body, int depth);
    void scope(Body &body, int depth);
    void call(Body &body);
    Expr uniform_condition();
    void make_function(const Variable *like);

    std::mt19937_64 random_;
    Program program_;
    Function *function_ = nullptr;
    const Variable *targets_ = nullptr;      // what all pointers in memory point into
    std::vector<const Variable *> visible_;  // objects of this function
    std::vector<const Variable *> readable_; // ... that all may read in this phase
    std::vector<const Variable *> numbers_;  // private variables that may be read
    std::vector<const Variable *> targets_of_gets_, indices_, uniform_;
    std::vector<const Variable *> records_; // private ones
    Place own_;                             // the element that is ours to read, if any
    struct Callable {
        Function *function;
        const Variable *like;
    };
    std::vector<Callable> callable_;
    size_t depth_ = 0; // of private loops: which index is the next
    int names_ = 0;
    bool in_loop_ = false;
    bool plain_indices_ = false; // while gets are on their way
    bool far_only_ = false;      // for what local places have no operator
    int index_depth_ = 0;        // of the index within an index that is being made
    int reads_ = 0;              // of memory in this phase
};

// ---- types and variables ------------------------------------------------------------

const Type *Generator::pointer(Space space, const Type *target, std::vector<Dimension> block)
{
    program_.types.push_back(std::make_unique<Type>(
        Type{Kind::Pointer, "", 8, false, 1, {}, space, target, std::move(block)}));
    return program_.types.back().get();
}

const Type *Generator::number_type()
{
    static const std::vector<const Type *> all{
        &basic::Char, &basic::UChar, &basic::Short, &basic::UShort, &basic::Int,
        &basic::Int,  &basic::UInt,  &basic::Long,  &basic::Long,   &basic::ULong};
    return pick(all);
}

const Type *Generator::element_type()
{
    if (chance(35) && !program_.records.empty())
        return pick(program_.records);
    if (chance(20))
        return chance(70) ? &basic::Double : &basic::Float;
    if (chance(12))
        return pointer(chance(60) ? Space::Global : Space::Spread, &basic::Int);
    return number_type();
}

void Generator::make_record()
{
    std::string name = "struct R" + std::to_string(program_.records.size());
    auto type = std::make_unique<Type>(Type{Kind::Record, name, 0, false, 0});
    long members = 2 + below(4);
    for (long i = 0; i < members; i++) {
        Member m{"m" + std::to_string(i), element_type()};
        if (chance(30)) {
            m.type = chance(50) ? &basic::Int : &basic::UInt;
            m.bits = static_cast<int>(1 + below(20));
        } else if (chance(25)) {
            m.count = static_cast<int>(1 + below(3));
        }
        m.slot = type->slots;
        type->slots += m.type->slots * std::max(m.count, 1);
        type->members.push_back(m);
    }
    program_.records.push_back(type.get());
    program_.types.push_back(std::move(type));
}

Dimension Generator::size(bool run_time, bool with_procs)
{
    static const char *const words[] = {"", "one", "two", "three", "four"};
    long n = 1 + below(4);
    std::string text = run_time && chance(60) ? words[n] : std::to_string(n);
    if (!with_procs || chance(40))
        return {0, n, text};
    if (chance(50))
        return {n, 0, "PROCS * " + text};
    return {1, n, "PROCS + " + text};
}

Variable *Generator::variable(const std::string &name, const Type *type, Home home)
{
    program_.variables.push_back(std::make_unique<Variable>(Variable{name, type, home}));
    return program_.variables.back().get();
}

Variable *Generator::array(const std::string &name, const Type *type, bool run_time)
{
    Variable *made = variable(name, type, Home::Spread);
    made->spread.push_back(size(run_time, true));
    if (chance(35))
        made->spread.push_back(size(run_time, false));
    for (long i = below(3); i > 0; i--)
        made->block.push_back(size(run_time, false));
    return made;
}

void Generator::make_globals()
{
    Variable *targets = variable("A0", &basic::Int, Home::Spread);
    targets->spread = {size(false, true), size(false, false)};
    targets_ = targets;
    program_.globals = {targets};
    long arrays = 1 + below(3), statics = below(3);
    for (long i = 1; i <= arrays; i++)
        program_.globals.push_back(array("A" + std::to_string(i), element_type(), false));
    for (long i = 0; i < statics; i++) {
        Variable *made = variable("S" + std::to_string(i), element_type(), Home::Static);
        made->block = {{0, 1 + below(4), ""}};
        made->block[0].text = std::to_string(made->block[0].fixed);
        program_.globals.push_back(made);
    }
}

// The variables that every function has.
void Generator::start_function(Function &function)
{
    function_ = &function;
    visible_.clear(), numbers_.clear(), targets_of_gets_.clear(), indices_.clear();
    uniform_.clear(), records_.clear(), readable_.clear();
    depth_ = 0;
    auto add = [&](const std::string &name, const Type *type) {
        Variable *made = variable(name, type);
        if (type->kind == Kind::Integer)
            made->start = below(100);
        function.locals.push_back(made);
        return made;
    };
    for (int i = 0; i < 4; i++)
        indices_.push_back(add("i" + std::to_string(i), &basic::Long));
    for (int i = 0; i < 4; i++)
        targets_of_gets_.push_back(add("x" + std::to_string(i), number_type()));
    for (int i = 0; i < 2; i++)
        uniform_.push_back(add("u" + std::to_string(i), &basic::Int));
    for (const Type *type : program_.records)
        records_.push_back(add("r" + std::to_string(records_.size()), type));
    numbers_ = targets_of_gets_;
    numbers_.insert(numbers_.end(), uniform_.begin(), uniform_.end());
}

// A private array of that type, for bulk transfers.
const Variable *Generator::buffer(const Type *type)
{
    Variable *made = variable("b" + std::to_string(names_++), type);
    made->block = {{0, 16, "16"}};
    function_->locals.push_back(made);
    return made;
}

// ---- expressions -----------------------------------------------------------------------

Expr Generator::constant_expr()
{
    static const std::vector<const Type *> all{&basic::Int, &basic::Int, &basic::UInt, &basic::Long,
                                               &basic::ULong};
    const Type *type = pick(all);
    long n = chance(70) ? below(100) : below(1L << 31);
    return constant(type->is_signed && chance(20) ? -n : n, type);
}

Expr Generator::leaf_expr()
{
    switch (below(8)) {
    case 0:
        return chance(50) ? proc() : procs();
    case 1:
        return constant_expr();
    case 2:
    case 3:
        if (depth_ > 0)
            return load(name(indices_[below(static_cast<long>(depth_))]));
        return constant_expr();
    case 4:
    case 5:
        if (!plain_indices_)
            return load(name(pick(numbers_)));
        return load(name(pick(uniform_)));
    default:
        if (plain_indices_)
            return proc();
        return memory_expr();
    }
}

// What is in some element.  Its indices may read memory too, but theirs may not, and
// no phase reads without end: most indices are written down several times.
Expr Generator::memory_expr()
{
    if (index_depth_ >= 2 || reads_ >= 100)
        return constant_expr();
    reads_++;
    if (own_ && chance(40))
        return number_of(leaf(own_()));
    if (!readable_.empty())
        return number_of(leaf(some_element(pick(readable_))));
    return constant_expr();
}

Expr Generator::binary_expr(int depth)
{
    static const std::vector<std::string> any{"+",  "-",  "*", "+", "-",  "&",  "|",  "^",
                                              "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
    if (chance(15)) {
        std::string token = chance(50) ? "<<" : ">>";
        return binary_node(token, expr(depth - 1), constant(below(8), &basic::Int));
    }
    if (chance(15)) {
        std::string token = chance(50) ? "/" : "%";
        return binary_node(token, expr(depth - 1), constant(1 + below(9), &basic::Int));
    }
    return binary_node(pick(any), expr(depth - 1), expr(depth - 1));
}

Expr Generator::expr(int depth)
{
    if (depth <= 0)
        return leaf_expr();
    switch (below(8)) {
    case 0:
        return cast(number_type(), expr(depth - 1));
    case 1:
        return unary_node(pick(std::vector<std::string>{"-", "~", "!"}), expr(depth - 1));
    case 2:
        return conditional_node(expr(depth - 1), expr(depth - 1), expr(depth - 1));
    case 3:
        return leaf_expr();
    default:
        return binary_expr(depth);
    }
}

// What is in that place, as an integer.
Expr Generator::number_of(const Expr &place)
{
    if (place->type->kind == Kind::Integer)
        return load(place);
    if (place->type->kind == Kind::Real)
        return cast(&basic::Long, load(place));
    bool may_follow = std::find(readable_.begin(), readable_.end(), targets_) != readable_.end();
    Expr empty = pointer_equal("==", load(place), null(place->type));
    if (!may_follow || chance(30))
        return chance(50) ? empty : pointer_equal("!=", load(place), pointer_expr(place->type));
    return conditional_node(empty, constant_expr(), load(deref(load(place))));
}

// Stays small whatever it is assigned to and how often.
Expr Generator::real_expr(const Expr &place)
{
    Expr small = cast(&basic::Double, cast(&basic::Int, expr(2)));
    if (chance(30))
        return small;
    return binary_node("+", binary_node("*", load(place), half()), small);
}

Expr Generator::pointer_expr(const Type *type)
{
    if (chance(15))
        return null(type);
    Expr position = index(elements_expr(targets_));
    Expr spread = pointer_add("+", decay(targets_, pointer(Space::Spread, &basic::Int)), position);
    if (type->space == Space::Spread)
        return spread;
    if (chance(30))
        return cast(type, spread);
    return address_of(element(targets_, position), pointer(Space::Global, &basic::Int));
}

// Some expression brought into 0 .. size - 1.
Expr Generator::index(const Expr &size)
{
    index_depth_++;
    Expr any = expr(1);
    index_depth_--;
    return binary_node("%", cast(&basic::ULong, any), cast(&basic::ULong, size));
}

// The element, or block, at a position in an array: one of many ways to say it.
Expr Generator::element(const Variable *array, const Expr &position)
{
    const Type *block_pointer = pointer(Space::Spread, array->type, array->block);
    Expr start = decay(array, block_pointer);
    Expr all = elements_expr(array);
    switch (below(6)) {
    case 0:
        return deref(pointer_add("+", start, position));
    case 1: // A[i] of an array of several spread dimensions would be a part of it
        return pointer_index(
            array->spread.size() == 1 ? start : pointer_add("+", start, constant(0, &basic::Int)),
            position);
    case 2: // from behind the end
        return deref(pointer_add("-", pointer_add("+", start, all),
                                 binary_node("-", all, cast(&basic::Long, position))));
    case 3:
        return deref(cast(pointer(Space::Global, array->type, array->block),
                          pointer_add("+", start, position)));
    default:
        return spread_element(array, position);
    }
}

Expr Generator::static_element(const Variable *variable, const Expr &owner)
{
    Expr first = subscript(name(variable), constant(0, &basic::Int));
    Expr start = to_global(owner, first, pointer(Space::Global, variable->type));
    Expr at = some_index(variable->block[0]);
    return chance(50) ? pointer_index(start, at) : deref(pointer_add("+", start, at));
}

Expr Generator::some_element(const Variable *object)
{
    if (object->home == Home::Static)
        return chance(30) && !far_only_ ? subscript(name(object), some_index(object->block[0]))
                                        : static_element(object, index(procs()));
    return element(object, index(elements_expr(object)));
}

Expr Generator::member(const Expr &place, const Member &m)
{
    bool far = place->op != Op::Name;
    if (chance(30) && far && !place_is_private(*place))
        return arrow(address_of(place, pointer(Space::Global, place->type)), m);
    return member_of(place, m);
}

Expr Generator::whole_element(Expr place)
{
    while (!place->block.empty())
        place = subscript(place, chance(40) ? constant(below(place->block[0].fixed), &basic::Int)
                                            : some_index(place->block[0]));
    return place;
}

// Go down to a scalar.
Expr Generator::leaf(Expr place)
{
    place = whole_element(place);
    while (place->type->kind == Kind::Record)
        place = whole_element(member(place, pick(place->type->members)));
    return place;
}

// ---- statements of one processor ---------------------------------------------------------

void Generator::write_leaf(Body &body, const Expr &place)
{
    static const std::vector<std::string> tokens{"", "", "", "+", "-", "*", "&", "|", "^"};
    const Type *type = place->type;
    Expr write;
    if (type->kind == Kind::Pointer)
        write = assign("", place, pointer_expr(type));
    else if (type->kind == Kind::Real)
        write = chance(25) ? assign("*", place, half()) : assign("", place, real_expr(place));
    else if (chance(15))
        write = step(chance(50) ? "++" : "--", place, chance(50));
    else if (chance(20))
        write = assign(pick(std::vector<std::string>{"/", "%", "<<", ">>"}), place,
                       constant(1 + below(7), &basic::Int));
    else
        write = assign(pick(tokens), place, expr(3));
    if (type->kind == Kind::Integer && chance(25))
        write = assign("", name(pick(targets_of_gets_)), write);
    body.push_back(evaluate(write));
}

void Generator::write_record(Body &body, const Place &own)
{
    Expr place = whole_element(own());
    size_t which = std::find(program_.records.begin(), program_.records.end(), place->type) -
                   program_.records.begin();
    Expr mine = name(records_[which]);
    if (chance(50)) {
        body.push_back(evaluate(assign("", mine, place)));
        write_leaf(body, leaf(mine));
    }
    body.push_back(evaluate(assign("", place, mine)));
}

// Gets into variables of ours and a put, then sync().
void Generator::split_phase(Body &body, const Place &own)
{
    plain_indices_ = far_only_ = true;
    size_t gets = 1 + static_cast<size_t>(below(3));
    for (size_t i = 0; i < gets; i++) {
        Expr from = leaf(readable_.empty() || chance(30) ? own() : some_element(pick(readable_)));
        if (from->type->kind == Kind::Integer)
            body.push_back(transfer(Do::Get, name(targets_of_gets_[i]), load(from)));
    }
    plain_indices_ = false;
    body.push_back(simple(Do::Sync));
    Expr to = leaf(own());
    far_only_ = false;
    if (to->type->kind == Kind::Integer) {
        body.push_back(transfer(Do::Put, to, expr(2)));
        body.push_back(simple(Do::Sync));
    }
}

// { T *global p = &element; ... } with steps over the block.
void Generator::with_pointer(Body &body, const Place &own)
{
    Expr place = own();
    const Type *type = pointer(Space::Global, place->type);
    long length = product(place->block, 0);
    for (Expr first = place; !first->block.empty();)
        place = first = subscript(first, constant(0, &basic::Int));
    const Variable *p = variable("p" + std::to_string(names_++), type);
    Statement with{Do::Declare, {address_of(place, type)}};
    with.variable = p;
    for (long at = 0; at < length && at < 4; at++) {
        bool steps = chance(50) && at + 1 < length;
        Expr here = steps        ? deref(step("++", name(p), false))
                    : chance(50) ? deref(load(name(p)))
                                 : pointer_index(load(name(p)), constant(0, &basic::Int));
        // p++ must be evaluated once: a plain assignment of a number.
        if (steps && here->type->kind == Kind::Integer)
            with.body.push_back(evaluate(assign("", here, expr(2))));
        else if (steps)
            with.body.push_back(evaluate(step("++", name(p), true)));
        else
            write_leaf(with.body, leaf(here));
    }
    body.push_back(std::make_shared<Statement>(with));
}

// The whole block out and in again, doubled on the way where it is of numbers.
void Generator::bulk(Body &body, const Variable *object, const Place &own)
{
    Expr place = own();
    Expr length = constant(product(place->block, 0), &basic::Long);
    for (Expr first = place; !first->block.empty();)
        place = first = subscript(first, constant(0, &basic::Int));
    const Type *type = pointer(Space::Global, object->type);
    const Variable *b = buffer(object->type);
    bool split = chance(50);
    body.push_back(
        bulk_node(split ? "bulk_get" : "bulk_read", name(b), address_of(place, type), length, b));
    if (split)
        body.push_back(simple(Do::Sync));
    write_leaf(body, leaf(subscript(name(b), constant(0, &basic::Int))));
    split = chance(50);
    body.push_back(
        bulk_node(split ? "bulk_put" : "bulk_write", address_of(place, type), name(b), length, b));
    if (split)
        body.push_back(simple(Do::Sync));
}

Body Generator::own_statements(const Variable *object, const Place &own)
{
    Body body;
    own_ = own;
    for (long i = 1 + below(3); i > 0; i--) {
        switch (below(9)) {
        case 0:
            split_phase(body, own);
            break;
        case 1:
            with_pointer(body, own);
            break;
        case 2:
            bulk(body, object, own);
            break;
        case 3:
            if (object->type->kind == Kind::Record)
                write_record(body, own);
            break;
        case 4: {
            Statement choice{Do::If, {expr(2)}};
            write_leaf(choice.body, leaf(own()));
            if (chance(50))
                write_leaf(choice.otherwise, leaf(own()));
            body.push_back(std::make_shared<Statement>(choice));
            break;
        }
        case 5:
            private_statement(body);
            break;
        default:
            write_leaf(body, leaf(own()));
        }
    }
    own_ = nullptr;
    return body;
}

// The processor that is so many further.
Expr shifted(long by)
{
    return binary_node("%", binary_node("+", proc(), constant(by, &basic::Int)), procs());
}

// Visit the elements that are ours.
Statement Generator::sweep(const Variable *object, const Slice &slice,
                           const std::function<Body(Place)> &f)
{
    Expr me = shifted(slice.shift);
    if (object->home == Home::Static) {
        Statement block{Do::If, {constant(1, &basic::Int)}};
        block.body = f([=, this] {
            return slice.shift == 0 && !far_only_
                       ? subscript(name(object), some_index(object->block[0]))
                       : static_element(object, me);
        });
        return block;
    }
    const Variable *i = indices_[depth_++];
    Expr all = elements_expr(object), wide = cast(&basic::Long, me);
    Expr from = wide, to = all, by = procs();
    if (!slice.cyclic) {
        Expr next = binary_node("+", wide, constant(1, &basic::Long));
        from = binary_node("/", binary_node("*", wide, all), procs());
        to = binary_node("/", binary_node("*", next, all), procs());
        by = constant(1, &basic::Long);
    }
    Statement loop{Do::For, {from, to, by}};
    loop.variable = i;
    loop.body = f([=, this] { return element(object, load(name(i))); });
    depth_--;
    return loop;
}

// A spread pointer that walks over our elements, forwards or backwards.
void Generator::spread_walk(Body &body, const Variable *array)
{
    const Type *type = pointer(Space::Spread, array->type, array->block);
    const Variable *p = variable("p" + std::to_string(names_++), type);
    const Variable *i = indices_[depth_];
    bool back = chance(50);
    Expr me = shifted(below(3));
    Expr all = elements_expr(array), start = decay(array, type);
    // Backwards from the last element that is at a multiple of PROCS from ours.
    Expr steps = binary_node("/",
                             binary_node("-", binary_node("+", all, procs()),
                                         binary_node("+", me, constant(1, &basic::Int))),
                             procs());
    Expr last =
        binary_node("+", cast(&basic::Long, me),
                    binary_node("*", binary_node("-", steps, constant(1, &basic::Int)), procs()));
    Statement with{Do::Declare, {pointer_add("+", start, back ? last : cast(&basic::Long, me))}};
    with.variable = p;
    Statement loop{Do::For, {constant(0, &basic::Int), steps, constant(1, &basic::Int)}};
    loop.variable = i;
    depth_++;
    own_ = [p] { return deref(load(name(p))); };
    loop.body.push_back(
        evaluate(assign("+", name(targets_of_gets_[0]), pointer_difference(load(name(p)), start))));
    write_leaf(loop.body, leaf(own_()));
    own_ = nullptr;
    loop.body.push_back(evaluate(assign(back ? "-" : "+", name(p), procs())));
    depth_--;
    with.body.push_back(std::make_shared<Statement>(loop));
    body.push_back(std::make_shared<Statement>(with));
}

void Generator::private_statement(Body &body)
{
    if (chance(20)) {
        Statement choice{Do::If, {expr(2)}};
        choice.body.push_back(evaluate(assign("", name(pick(targets_of_gets_)), expr(2))));
        body.push_back(std::make_shared<Statement>(choice));
    } else if (chance(20)) {
        write_leaf(body, leaf(name(pick(records_))));
    } else {
        body.push_back(evaluate(assign(pick(std::vector<std::string>{"", "+", "^", "-"}),
                                       name(pick(targets_of_gets_)), expr(3))));
    }
}

// All processors add to the same elements.
void Generator::count(Body &body, const Variable *object)
{
    const Type *type = pointer(Space::Global, object->type);
    for (long i = 1 + below(3); i > 0; i--)
        body.push_back(
            evaluate(fetch_add(address_of(whole_element(some_element(object)), type), expr(1))));
}

// Each leaf of ours once, since stores come in any order.
Body Generator::store_body(const Variable *object, const Place &own)
{
    Body body;
    Expr place = own();
    while (!place->block.empty())
        place = subscript(place, constant(below(place->block[0].fixed), &basic::Int));
    if (object->type->kind == Kind::Record && chance(50)) {
        size_t which = std::find(program_.records.begin(), program_.records.end(), place->type) -
                       program_.records.begin();
        body.push_back(transfer(Do::Store, place, name(records_[which])));
        return body;
    }
    while (place->type->kind == Kind::Record) {
        const Member &m = pick(place->type->members);
        if (m.bits)
            return body;
        place = member_of(place, m);
        if (m.count)
            place = subscript(place, constant(0, &basic::Int));
    }
    const Type *type = place->type;
    Expr value = type->kind == Kind::Pointer ? pointer_expr(type)
                 : type->kind == Kind::Real  ? cast(type, cast(&basic::Int, expr(2)))
                                             : expr(3);
    body.push_back(transfer(Do::Store, place, value));
    return body;
}

void Generator::add_sweep(Body &body, const Variable *object, bool only_stores)
{
    bool is_static = object->home == Home::Static;
    if (only_stores) {
        auto f = [&](const Place &own) { return store_body(object, own); };
        // A static array is one element here: only constant subscripts store once.
        if (!is_static)
            body.push_back(std::make_shared<Statement>(sweep(object, {chance(50), below(3)}, f)));
        return;
    }
    bool counts = !is_static && object->block.empty() &&
                  (object->type == &basic::Int || object->type == &basic::Long);
    if (counts && chance(25))
        return count(body, object);
    if (!is_static && chance(20))
        return spread_walk(body, object);
    auto f = [&](const Place &own) { return own_statements(object, own); };
    Slice slice{chance(50), below(3)};
    // Slices of a static object are whole processors', so one visit is enough.
    body.push_back(std::make_shared<Statement>(sweep(object, slice, f)));
}

// ---- statements of all ---------------------------------------------------------------------

void Generator::phase(Body &body)
{
    std::vector<const Variable *> sliced;
    readable_.clear();
    reads_ = 0;
    for (const Variable *object : visible_) {
        if (chance(40))
            sliced.push_back(object);
        else if (chance(75))
            readable_.push_back(object);
    }
    bool stores = chance(25);
    Statement made{stores ? Do::StorePhase : Do::Phase};
    for (const Variable *object : sliced)
        add_sweep(made.body, object, stores);
    private_statement(made.body);
    readable_.clear();
    body.push_back(std::make_shared<Statement>(made));
}

void Generator::initialize_leaves(Body &body, const Expr &place, const Type *type)
{
    if (type->kind == Kind::Record) {
        for (const Member &m : type->members) {
            Expr inner = member_of(place, m);
            for (int i = 0; i < std::max(m.count, 1); i++)
                initialize_leaves(
                    body, m.count ? subscript(inner, constant(i, &basic::Int)) : inner, m.type);
        }
        return;
    }
    Expr value = type->kind == Kind::Pointer ? pointer_expr(type)
                 : type->kind == Kind::Real  ? cast(type, cast(&basic::Int, expr(1)))
                                             : expr(1);
    body.push_back(evaluate(assign("", place, value)));
}

void Generator::initialize(Body &body, const Variable *array)
{
    auto f = [&](const Place &own) {
        std::function<Body(Expr)> nest = [&](const Expr &place) {
            Body inner;
            if (place->block.empty()) {
                initialize_leaves(inner, place, array->type);
                return inner;
            }
            const Variable *i = indices_[depth_++];
            Statement loop{
                Do::For,
                {constant(0, &basic::Int), size_expr(place->block[0]), constant(1, &basic::Int)}};
            loop.variable = i;
            loop.body = nest(subscript(place, load(name(i))));
            depth_--;
            return Body{std::make_shared<Statement>(loop)};
        };
        return nest(own());
    };
    body.push_back(std::make_shared<Statement>(sweep(array, {chance(50), below(3)}, f)));
}

void Generator::initialization(Body &body, const Variable *array)
{
    Statement made{Do::Phase};
    initialize(made.body, array);
    body.push_back(std::make_shared<Statement>(made));
}

Expr Generator::uniform_condition()
{
    static const std::vector<std::string> tokens{"<", ">", "==", "!="};
    Expr a = chance(70) ? load(name(pick(uniform_))) : procs();
    Expr rest = binary_node("%", a, constant(2 + below(3), &basic::Int));
    return binary_node(pick(tokens), rest, constant(below(3), &basic::Int));
}

void Generator::collective(Body &body)
{
    static const std::vector<std::string> to_all{"all_reduce_to_all_add", "all_reduce_to_all_max",
                                                 "all_reduce_to_all_min", "all_bcast"};
    static const std::vector<std::string> differing{
        "all_reduce_to_one_add", "all_reduce_to_one_max", "all_reduce_to_one_min",
        "all_scan_add",          "all_scan_max",          "all_scan_min"};
    static const std::vector<std::string> real{"all_reduce_to_all_dadd", "all_reduce_to_all_dmax",
                                               "all_reduce_to_all_dmin", "all_bcast_d"};
    Expr small = cast(&basic::Int, binary_node("&", expr(2), constant(1023, &basic::Int)));
    Statement made{Do::Collective, {small}};
    made.variable = pick(uniform_);
    made.token = pick(to_all);
    if (chance(30)) {
        made.variable = pick(targets_of_gets_);
        made.token = pick(differing);
    } else if (chance(30)) {
        made.exprs = {cast(&basic::Double, small)};
        made.token = pick(real);
    }
    body.push_back(std::make_shared<Statement>(made));
}

// break, continue or goto out of what is around, if that is allowed.
void Generator::jump_out(Body &body, int depth)
{
    if (in_loop_ && chance(40)) {
        Statement test{Do::UniformIf, {uniform_condition()}};
        test.body.push_back(simple(chance(50) ? Do::Break : Do::Continue));
        body.push_back(std::make_shared<Statement>(test));
        return;
    }
    Statement label{Do::Label};
    label.token = "out" + std::to_string(names_++);
    label.body = uniform_body(depth - 1, 1);
    Statement inner{Do::Scope}, test{Do::UniformIf, {uniform_condition()}}, jump{Do::Goto};
    jump.token = label.token;
    test.body.push_back(std::make_shared<Statement>(jump));
    inner.body.push_back(std::make_shared<Statement>(test));
    Body rest = uniform_body(depth - 1, 1);
    inner.body.insert(inner.body.end(), rest.begin(), rest.end());
    const Variable *around = array("a" + std::to_string(names_++), &basic::Int, true);
    inner.variables.push_back(around);
    label.body.push_back(std::make_shared<Statement>(inner));
    body.push_back(std::make_shared<Statement>(label));
}

void Generator::loop(Body &body, int depth)
{
    Variable *i = variable("n" + std::to_string(names_++), &basic::Long);
    function_->locals.push_back(i);
    Statement made{
        Do::UniformFor,
        {constant(0, &basic::Int), constant(1 + below(3), &basic::Int), constant(1, &basic::Int)}};
    made.variable = i;
    bool outer = in_loop_;
    in_loop_ = true;
    made.body = uniform_body(depth - 1, 2);
    in_loop_ = outer;
    body.push_back(std::make_shared<Statement>(made));
}

void Generator::scope(Body &body, int depth)
{
    Statement made{Do::Scope};
    size_t before = visible_.size();
    for (long i = 1 + below(2); i > 0; i--) {
        const Variable *a = array("a" + std::to_string(names_++), element_type(), true);
        made.variables.push_back(a);
        initialization(made.body, a);
        visible_.push_back(a);
    }
    Body rest = uniform_body(depth - 1, 2);
    made.body.insert(made.body.end(), rest.begin(), rest.end());
    if (chance(50)) {
        Statement show{Do::Dump};
        show.variable = made.variables[0];
        made.body.push_back(std::make_shared<Statement>(show));
    }
    visible_.resize(before);
    body.push_back(std::make_shared<Statement>(made));
}

void Generator::call(Body &body)
{
    if (callable_.empty())
        return collective(body);
    const Callable &callee = pick(callable_);
    if (std::find(visible_.begin(), visible_.end(), callee.like) == visible_.end())
        return collective(body);
    Statement made{Do::Call};
    made.function = callee.function;
    made.variable = pick(uniform_);
    for (const std::vector<Dimension> *sizes : {&callee.like->spread, &callee.like->block})
        for (const Dimension &dimension : *sizes)
            made.exprs.push_back(size_expr(dimension));
    made.exprs.push_back(
        decay(callee.like, pointer(Space::Spread, callee.like->type, callee.like->block)));
    body.push_back(std::make_shared<Statement>(made));
}

void Generator::uniform_statement(Body &body, int depth)
{
    switch (depth > 0 ? below(10) : below(5)) {
    case 3:
        return collective(body);
    case 4:
        return call(body);
    case 5:
        return loop(body, depth);
    case 6:
    case 7:
        return scope(body, depth);
    case 8:
        return jump_out(body, depth);
    case 9: {
        Statement choice{Do::UniformIf, {uniform_condition()}};
        choice.body = uniform_body(depth - 1, 1);
        if (chance(50))
            choice.otherwise = uniform_body(depth - 1, 1);
        body.push_back(std::make_shared<Statement>(choice));
        return;
    }
    default:
        return phase(body);
    }
}

Body Generator::uniform_body(int depth, int statements)
{
    Body body;
    for (int i = 0; i < statements; i++)
        uniform_statement(body, depth);
    return body;
}

// A function on an array like that one, whose sizes it is told.
void Generator::make_function(const Variable *like)
{
    auto made = std::make_shared<Function>();
    made->name = "f" + std::to_string(program_.functions.size());
    start_function(*made);
    Variable *parameter = variable("a" + std::to_string(names_++), like->type, Home::Spread);
    parameter->spread = like->spread;
    parameter->block = like->block;
    for (std::vector<Dimension> *sizes : {&parameter->spread, &parameter->block})
        for (Dimension &dimension : *sizes) {
            dimension.text = "s" + std::to_string(names_++);
            made->parameters.push_back(variable(dimension.text, &basic::Long));
        }
    made->parameters.push_back(parameter);
    visible_ = {parameter};
    Statement whole{Do::Scope};
    whole.body = uniform_body(2, 2);
    Statement early{Do::UniformIf, {uniform_condition()}},
        back{Do::Return, {load(name(uniform_[0]))}};
    early.body.push_back(std::make_shared<Statement>(back));
    whole.variables.push_back(array("a" + std::to_string(names_++), number_type(), true));
    whole.body.push_back(std::make_shared<Statement>(early));
    Body rest = uniform_body(1, 1);
    whole.body.insert(whole.body.end(), rest.begin(), rest.end());
    made->body.push_back(std::make_shared<Statement>(whole));
    Statement end{Do::Return, {constant(below(50), &basic::Int)}};
    made->body.push_back(std::make_shared<Statement>(end));
    program_.functions.push_back(made);
    callable_.push_back({made.get(), like});
}

Program Generator::run()
{
    for (long i = 1 + below(3); i > 0; i--)
        make_record();
    make_globals();
    std::vector<const Variable *> spread;
    for (const Variable *object : program_.globals)
        if (object->home == Home::Spread)
            spread.push_back(object);
    for (long i = below(3); i > 0; i--)
        make_function(pick(spread));
    auto start = std::make_shared<Function>();
    start->name = "splitc_main";
    start_function(*start);
    for (const Variable *object : spread)
        initialization(start->body, object);
    visible_ = program_.globals;
    Body rest = uniform_body(2, 6);
    start->body.insert(start->body.end(), rest.begin(), rest.end());
    for (const Variable *object : program_.globals) {
        Statement show{Do::Dump};
        show.variable = object;
        start->body.push_back(std::make_shared<Statement>(show));
    }
    Statement show{Do::PrintLocals};
    show.variables = numbers_;
    start->body.push_back(std::make_shared<Statement>(show));
    program_.functions.push_back(start);
    return std::move(program_);
}

} // namespace

Program generate(unsigned long seed)
{
    return Generator(seed).run();
}

} // namespace random_program
