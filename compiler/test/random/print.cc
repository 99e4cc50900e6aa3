// SPDX-License-Identifier: BSD-3-Clause
//
// Prints a random program as Split-C text.
#include "program.h"

#include <sstream>

namespace random_program {
namespace {

class Printer {
public:
    explicit Printer(const Program &program) : program_(program) {}
    std::string run();

private:
    void record(const Type &type);
    void global(const Variable &variable);
    void function(const Function &function);
    void statements(const Body &body);
    void block(const Body &body);
    void statement(const Statement &s);
    void uniform(const Statement &s);
    void dump(const Variable &variable);
    void line(const std::string &text) { out_ << std::string(4 * depth_, ' ') << text << "\n"; }
    void open(const std::string &text)
    {
        line(text);
        depth_++;
    }
    void close(const std::string &text = "}")
    {
        depth_--;
        line(text);
    }

    const Program &program_;
    std::ostringstream out_;
    int depth_ = 0;
};

std::string brackets(const std::vector<Dimension> &dimensions)
{
    std::string text;
    for (const Dimension &dimension : dimensions)
        text += "[" + dimension.text + "]";
    return text;
}

// Returns a declaration of `name` with that type.
std::string declaration(const Type &type, const std::string &name)
{
    if (type.kind != Kind::Pointer)
        return type.name + " " + name;
    std::string space = type.space == Space::Global ? "*global " : "*spread ";
    std::string star = space + name;
    if (!type.block.empty())
        star = "(" + star + ")" + brackets(type.block);
    return declaration(*type.target, star);
}

std::string declaration(const Variable &variable)
{
    std::string sizes = brackets(variable.spread);
    if (variable.home == Home::Spread)
        sizes += "::";
    return declaration(*variable.type, variable.name + sizes + brackets(variable.block));
}

std::string initializer(const Variable &variable)
{
    if (!variable.block.empty() || variable.type->kind == Kind::Real)
        return "";
    return variable.type->kind == Kind::Integer ? " = " + std::to_string(variable.start) : " = {0}";
}

std::string show(const Expr &e);

std::string subscripts(const Node &n, size_t first)
{
    std::string text;
    for (size_t i = first; i < n.kids.size(); i++)
        text += "[" + show(n.kids[i]) + "]";
    return text;
}

std::string constant(const Node &n)
{
    std::string text = std::to_string(n.value);
    if (!n.type->is_signed)
        text += "u";
    if (n.type->size == 8)
        text += "L";
    return n.value < 0 ? "(" + text + ")" : text;
}

std::string show_value(const Node &n)
{
    switch (n.op) {
    case Op::Constant:
        return constant(n);
    case Op::Half:
        return "0.5";
    case Op::Size:
        return "(long)(" + n.block[0].text + ")";
    case Op::Null:
        return "NULL";
    case Op::MyProc:
        return "MYPROC";
    case Op::Procs:
        return "PROCS";
    case Op::Load:
        return show(n.kids[0]);
    case Op::Cast:
        return "(" + declaration(*n.type, "") + ")(" + show(n.kids[0]) + ")";
    case Op::Unary:
        return "(" + n.token + " " + show(n.kids[0]) + ")";
    case Op::Binary:
        return "(" + show(n.kids[0]) + " " + n.token + " " + show(n.kids[1]) + ")";
    case Op::Conditional:
        return "(" + show(n.kids[0]) + " ? " + show(n.kids[1]) + " : " + show(n.kids[2]) + ")";
    case Op::Assign:
        return "(" + show(n.kids[0]) + " " + n.token + "= " + show(n.kids[1]) + ")";
    case Op::Step:
        return n.prefix ? "(" + n.token + show(n.kids[0]) + ")"
                        : "(" + show(n.kids[0]) + n.token + ")";
    default:
        return "?";
    }
}

std::string show(const Expr &e)
{
    const Node &n = *e;
    switch (n.op) {
    case Op::AddressOf:
        return "(&" + show(n.kids[0]) + ")";
    case Op::Decay:
    case Op::Name:
        return n.variable->name;
    case Op::PointerAdd:
        return "(" + show(n.kids[0]) + " " + n.token + " " + show(n.kids[1]) + ")";
    case Op::PointerDifference:
        return "(" + show(n.kids[0]) + " - " + show(n.kids[1]) + ")";
    case Op::PointerEqual:
        return "(" + show(n.kids[0]) + " " + n.token + " " + show(n.kids[1]) + ")";
    case Op::ToGlobal:
        return "toglobal(" + show(n.kids[0]) + ", &" + show(n.kids[1]) + ")";
    case Op::ToProc:
        return "toproc(" + show(n.kids[0]) + ")";
    case Op::Element:
        return n.variable->name + subscripts(n, 0);
    case Op::Subscript:
        return show(n.kids[0]) + subscripts(n, 1);
    case Op::MemberOf:
        return show(n.kids[0]) + "." + n.member->name;
    case Op::Deref:
        return "(*" + show(n.kids[0]) + ")";
    case Op::PointerIndex:
        return show(n.kids[0]) + subscripts(n, 1);
    case Op::Arrow:
        return show(n.kids[0]) + "->" + n.member->name;
    case Op::FetchAdd:
        return std::string(n.type->size == 4 ? "fetch_add" : "fetch_add_l") + "(" +
               show(n.kids[0]) + ", " + show(n.kids[1]) + ")";
    default:
        return show_value(n);
    }
}

// Collects the scalars in an object of that type: the text behind its name for each.
void leaves(const Type &type, const std::string &path,
            std::vector<std::pair<std::string, const Type *>> &found)
{
    if (type.kind != Kind::Record) {
        found.emplace_back(path, &type);
        return;
    }
    for (const Member &member : type.members) {
        std::string name = path + "." + member.name;
        if (member.count == 0)
            leaves(*member.type, name, found);
        for (int i = 0; i < member.count; i++)
            leaves(*member.type, name + "[" + std::to_string(i) + "]", found);
    }
}

std::string print_leaf(const std::string &place, const Type &type)
{
    switch (type.kind) {
    case Kind::Real:
        return "printf(\" %a\", (double)" + place + ");";
    case Kind::Pointer:
        return "printf(\" %d\", " + place + " == NULL ? -1 : (int)toproc(" + place + "));";
    default:
        return "printf(\" %ld\", (long)" + place + ");";
    }
}

void Printer::record(const Type &type)
{
    open(type.name + " {");
    for (const Member &member : type.members) {
        std::string name = member.name;
        if (member.count)
            name += "[" + std::to_string(member.count) + "]";
        if (member.bits)
            name += " : " + std::to_string(member.bits);
        line(declaration(*member.type, name) + ";");
    }
    close("};");
}

void Printer::global(const Variable &variable)
{
    line("static " + declaration(variable) + ";");
}

// Processor 0 prints all elements, through the global address space.
void Printer::dump(const Variable &variable)
{
    bool spread = variable.home == Home::Spread;
    open("on_one {");
    line("long e_, k_;");
    std::string count = spread ? "1" : "PROCS";
    for (const Dimension &dimension : variable.spread)
        count += " * " + ("(" + dimension.text + ")");
    open("for (e_ = 0; e_ < " + count + "; e_++) {");
    line("printf(\"" + variable.name + " %ld:\", e_);");
    Type flat{Kind::Pointer, "", 8, false, 1, {}, Space::Global, variable.type, {}};
    std::string block = "1";
    for (const Dimension &dimension : variable.block)
        block += " * " + dimension.text;
    line(declaration(flat, "g_") + " = (" + declaration(flat, "") + ")" +
         (spread ? "(" + variable.name + " + e_)" : "toglobal(e_, " + variable.name + ")") + ";");
    open("for (k_ = 0; k_ < " + block + "; k_++) {");
    std::vector<std::pair<std::string, const Type *>> found;
    leaves(*variable.type, "", found);
    for (const auto &[path, type] : found)
        line(print_leaf("g_[k_]" + path, *type));
    close();
    line("printf(\"\\n\");");
    close();
    close();
}

void Printer::function(const Function &function)
{
    bool is_main = function.name == "splitc_main";
    std::string parameters;
    for (const Variable *parameter : function.parameters)
        parameters += (parameters.empty() ? "" : ", ") + declaration(*parameter);
    line("");
    line((is_main ? "int " : "static int ") + function.name + "(" +
         (is_main ? "int argc, char *argv[]" : parameters) + ")");
    open("{");
    for (const Variable *local : function.locals)
        line(declaration(*local) + initializer(*local) + ";");
    if (is_main) {
        line("one = argc, two = one + 1, three = two + 1, four = two + two;");
        for (const std::string &made : teams_made(program_.teams))
            line(made);
    }
    statements(function.body);
    if (is_main) {
        for (const std::string &freed : teams_freed(program_.teams.size()))
            line(freed);
        line("return 0;");
    }
    close();
}

void Printer::statements(const Body &body)
{
    for (const auto &s : body)
        statement(*s);
}

void Printer::block(const Body &body)
{
    depth_++;
    statements(body);
    depth_--;
}

void Printer::statement(const Statement &s)
{
    auto assignment = [&](const char *op) {
        line(show(s.exprs[0]) + " " + op + " " + show(s.exprs[1]) + ";");
    };
    switch (s.what) {
    case Do::Evaluate:
        return line(show(s.exprs[0]) + ";");
    case Do::Get:
    case Do::Put:
        return assignment(":=");
    case Do::Store:
        return assignment(":-");
    case Do::Sync:
        return line("sync();");
    case Do::Bulk:
        return line(s.token + "(" + show(s.exprs[0]) + ", " + show(s.exprs[1]) + ", " +
                    show(s.exprs[2]) + " * sizeof(" + declaration(*s.variable->type, "") + "));");
    case Do::If:
    case Do::UniformIf:
        open("if (" + show(s.exprs[0]) + ") {");
        statements(s.body);
        if (!s.otherwise.empty()) {
            close("} else {");
            block(s.otherwise);
            depth_++;
        }
        return close();
    case Do::For:
    case Do::UniformFor: {
        const std::string &i = s.variable->name;
        open("for (" + i + " = " + show(s.exprs[0]) + "; " + i + " < " + show(s.exprs[1]) + "; " +
             i + " += " + show(s.exprs[2]) + ") {");
        statements(s.body);
        return close();
    }
    case Do::Declare: // for what follows, so it is in a block of its own
        open("{");
        line(declaration(*s.variable) + " = " + show(s.exprs[0]) + ";");
        statements(s.body);
        return close();
    default:
        return uniform(s);
    }
}

void Printer::uniform(const Statement &s)
{
    switch (s.what) {
    case Do::Phase:
        statements(s.body);
        return line("barrier();");
    case Do::StorePhase:
        statements(s.body);
        return line("all_store_sync();");
    case Do::Scope:
        open("{");
        for (const Variable *array : s.variables)
            line(declaration(*array) + ";");
        statements(s.body);
        return close();
    case Do::Break:
        return line("break;");
    case Do::Continue:
        return line("continue;");
    case Do::Goto:
        return line("goto " + s.token + ";");
    case Do::Label:
        open("{");
        statements(s.body);
        close();
        return line(s.token + ":;");
    case Do::Return:
        return line("return " + show(s.exprs[0]) + ";");
    case Do::Collective:
        return line(s.variable->name + " = " + s.token + "(" + show(s.exprs[0]) + ");");
    case Do::ArrayCollective:
        line(call_begun(s.array, show(s.exprs[0])));
        statements(s.body);
        return line(s.variable->name + " = " + call_ended(s.array) + ";");
    case Do::Call: {
        std::string arguments;
        for (const Expr &argument : s.exprs)
            arguments += (arguments.empty() ? "" : ", ") + show(argument);
        return line(s.variable->name + " = " + s.function->name + "(" + arguments + ");");
    }
    case Do::Dump:
        dump(*s.variable);
        return line("barrier();");
    default: { // PrintLocals
        std::string format = "processor %d:", arguments = "MYPROC";
        for (const Variable *variable : s.variables) {
            format += " %ld";
            arguments += ", (long)" + variable->name;
        }
        return line("printf(\"" + format + "\\n\", " + arguments + ");");
    }
    }
}

std::string Printer::run()
{
    out_ << "#include <split-c/split-c.h>\n#include <stdio.h>\n\n"
            "static int one, two, three, four; /* sizes that the compiler does not know */\n\n"
         << teams_prologue(program_.teams.size(), program_.arrays);
    for (const Type *type : program_.records)
        record(*type);
    for (const Variable *variable : program_.globals)
        global(*variable);
    for (const auto &f : program_.functions)
        function(*f);
    return out_.str();
}

} // namespace

std::string text_of(const Program &program)
{
    return Printer(program).run();
}

} // namespace random_program
