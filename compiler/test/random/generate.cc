// SPDX-License-Identifier: BSD-3-Clause
//
// Makes types, variables, and the statements that all processors execute together.
#include "generator.h"
#include <algorithm>

namespace random_program {

// ---- types and variables

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

// Makes the variables that every function has.
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

// Returns a private array of that type, for bulk transfers.
const Variable *Generator::buffer(const Type *type)
{
    Variable *made = variable("b" + std::to_string(names_++), type);
    made->block = {{0, 16, "16"}};
    function_->locals.push_back(made);
    return made;
}

// ---- statements of all processors

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

void Generator::make_teams()
{
    for (long i = 1 + below(3); i > 0; i--) {
        Team t;
        t.parent = chance(50) ? 0 : static_cast<int>(below(program_.teams.size()));
        t.shift = below(3);
        t.colours = 1 + below(3);
        t.below = below(3);
        t.none = chance(30) ? 2 + below(3) : 0;
        t.factor = 1 + below(5);
        t.keys = 1 + below(4);
        program_.teams.push_back(t);
    }
}

// An operation on arrays.  One that is split-phase may go on during a phase.
void Generator::array_collective(Body &body)
{
    static const std::vector<long> counts{0, 1, 2, 9, 200, 2000};
    Expr small = cast(&basic::Int, binary_node("&", expr(2), constant(1023, &basic::Int)));
    Statement made{Do::ArrayCollective, {small}};
    made.variable = pick(targets_of_gets_);
    made.array.team = static_cast<int>(below(program_.teams.size()));
    made.array.op = static_cast<ArrayOp>(below(static_cast<long>(ArrayOp::Count)));
    made.array.type = static_cast<ArrayType>(below(static_cast<long>(ArrayType::Count)));
    program_.arrays.insert(made.array.type);
    made.array.count = pick(counts);
    made.array.root = below(4);
    made.array.with = below(made.array.type == ArrayType::Double ? 3 : 4);
    made.array.split = chance(50);
    made.array.place = arrays_;
    if (made.array.split && chance(60)) {
        arrays_++;
        if (arrays_ < 2 && chance(40))
            array_collective(made.body);
        phase(made.body);
        arrays_--;
    }
    body.push_back(std::make_shared<Statement>(made));
}

void Generator::collective(Body &body)
{
    if (with_teams_ && chance(40))
        return array_collective(body);
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

// Leaves the statement around by break, continue or goto, if that is allowed.
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

// Makes a function with an array like this one and its sizes as parameters.
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
    if (with_teams_)
        make_teams();
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

Program generate(unsigned long seed, bool teams)
{
    return Generator(seed, teams).run();
}

} // namespace random_program
