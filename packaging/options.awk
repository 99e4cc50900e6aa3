# SPDX-License-Identifier: BSD-3-Clause
#
# awk -f options.awk -v program=NAME -v operands=command|files|paths -v to=bash|zsh|mdoc [TEMPLATE]:
# what `NAME --print-options`, on standard input, tells of its options, as a completion for a shell,
# or as a list in a manual, in the place of the line "@OPTIONS@" of TEMPLATE.
#
# Lines of the table are
#     option TAB names TAB value TAB text TAB more text
#     synonym TAB name TAB other names for it
#     word TAB what may be written, too
# A value of FILE, DIR, CMD, CC, HOSTS, IFACE or PID is completed by such; of words with '|' between
# them by those that are in lower case.  A name that ends in '=' is followed by its value directly.

BEGIN { FS = "\t"; count = 0 }

FNR == NR && $1 == "option" {
    names[++count] = $2; value[count] = $3; text[count] = $4; more[count] = $5
    name_of[split($2, part, " ") ? part[1] : ""] = count
}
FNR == NR && $1 == "synonym" { synonyms[name_of[$2]] = $3 }
FNR == NR && $1 == "word" { words = words " " $2 }
FNR != NR { template[++lines] = $0 }

END {
    if (!count) {
        print "options.awk: " program " has told no options" > "/dev/stderr"
        exit 1
    }
    if (to == "bash") bash()
    else if (to == "zsh") zsh()
    else mdoc()
}

# The words of a value that can be completed.
function choices(value,    part, n, i, list) {
    if (value !~ /\|/) return ""
    n = split(value, part, "|")
    for (i = 1; i <= n; i++)
        if (part[i] !~ /[A-Z]/) list = list (list ? " " : "") part[i]
    return list
}

# ---- bash ----

function bash_action(value) {
    if (choices(value)) return "-W '" choices(value) "'"
    if (value == "DIR") return "-d"
    if (value == "FILE") return "-f"
    if (value == "CMD" || value == "CC") return "-c"
    if (value == "HOSTS") return "-A hostname"
    if (value == "IFACE") return "-W \"$(ls /sys/class/net 2>/dev/null)\""
    if (value == "PID") return "-W \"$(ps -eo pid= 2>/dev/null)\""
    return ""
}

# The names of an option, and those of other launchers, as a pattern of `case`.
function pattern(i,    part, n, k, list, seen) {
    n = split(names[i] " " synonyms[i], part, " ")
    for (k = 1; k <= n; k++) {
        sub(/=$/, "", part[k])
        if (!seen[part[k]]++) list = list (list ? " | " : "") part[k]
    }
    return list
}

# Sets COMPREPLY to those of compgen's words that begin like the word.
function bash_reply(indent, arguments) {
    if (arguments ~ /^-[df]$/) print indent "compopt -o filenames 2>/dev/null"
    if (arguments) print indent "mapfile -t COMPREPLY < <(compgen " arguments " -- \"$word\")"
    print indent "return"
}

# Among the options, the program, or its arguments; ':' begins another program.
function bash_position(valued) {
    print "    local i=1 at=options"
    print "    while ((i < COMP_CWORD)); do"
    print "        case $at${COMP_WORDS[i]} in"
    print "        arguments: | program:) at=options ;;"
    print "        arguments* | program*) at=arguments ;;"
    print "        options--) at=program ;;"
    gsub(/[^ |]+/, "options&", valued)
    print "        " valued ")"
    print "            ((++i))"
    print "            [[ ${COMP_WORDS[i]} != = ]] || ((++i))"
    print "            ;;"
    print "        options-* | options=) ;;"
    print "        *) at=arguments ;;"
    print "        esac"
    print "        ((++i))"
    print "    done"
    print "    if [[ $at == arguments ]]; then"
    bash_reply("        ", "-f")
    print "    fi"
}

function bash(    i, k, all, valued, actions, action, patterns) {
    for (i = 1; i <= count; i++) {
        all = all (all ? " " : "") names[i]
        if (value[i] == "") continue
        valued = valued (valued ? " | " : "") pattern(i)
        k = bash_action(value[i])
        if (!(k in patterns)) action[++actions] = k
        patterns[k] = patterns[k] (patterns[k] ? " | " : "") pattern(i)
    }
    print "# bash completion for " program "; made from " program " --print-options"
    print "_" program "()"
    print "{"
    print "    local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} IFS=$' \\t\\n'"
    print "    COMPREPLY=()"
    print "    # bash has \"--option=value\" as three words."
    print "    if [[ $word == = ]]; then"
    print "        word=''"
    print "    elif [[ $option == = ]]; then"
    print "        option=${COMP_WORDS[COMP_CWORD - 2]}"
    print "    fi"
    if (operands == "command") {
        bash_position(valued)
        print "    [[ $at == options ]] || option=''"
    }
    print "    case $option in"
    for (k = 1; k <= actions; k++) {
        print "    " patterns[action[k]] ")"
        bash_reply("        ", action[k])
        print "        ;;"
    }
    print "    esac"
    print "    if [[ " (operands == "command" ? "$at == options && " : "") "$word == -* ]]; then"
    print "        mapfile -t COMPREPLY < <(compgen -W '" all words "' -- \"$word\")"
    if (operands == "files") # gcc tells its own
        print "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(${SPLITCC_CC:-cc} --completion=\"$word\" 2>/dev/null)"
    print "        [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null"
    print "        return"
    print "    fi"
    if (operands == "command") {
        print "    if [[ $word != */* ]]; then"
        bash_reply("        ", "-A directory -A command")
        print "    fi"
    }
    bash_reply("    ", "-f")
    print "}"
    print "complete -F _" program " " program
}

# ---- zsh ----

function zsh_action(value) {
    if (choices(value)) return "(" choices(value) ")"
    if (value == "DIR") return "_files -/"
    if (value == "FILE") return "_files"
    if (value == "CMD" || value == "CC") return "_command_names -e"
    if (value == "HOSTS") return "_hosts"
    if (value == "IFACE") return "_net_interfaces"
    if (value == "PID") return "_pids"
    return " "
}

function zsh_text(text) {
    gsub(/[\\:\[\]]/, "\\\\&", text)
    gsub(/'/, "'\\''", text)
    return text
}

# -x takes its value in the same word or the next one, --name and --name=VALUE.
function zsh_name(name, value) {
    if (value == "") return name
    if (name ~ /=$/) return name "-"
    if (name ~ /^--/) return name "="
    return length(name) == 2 ? name "+" : name
}

function zsh(    i, k, n, part, spec, message) {
    print "#compdef " program
    print "# made from " program " --print-options"
    print "_arguments -S \\"
    for (i = 1; i <= count; i++) {
        n = split(names[i], part, " ")
        message = zsh_text(value[i])
        gsub(/\|.*/, "...", message)
        for (k = 1; k <= n; k++) {
            if (part[k] == "--") continue
            spec = "'" (operands == "command" ? "" : "*")
            if (operands == "command" && n > 1) spec = spec "(" names[i] ")"
            spec = spec zsh_name(part[k], value[i]) "[" zsh_text(text[i]) "]"
            if (value[i] != "") spec = spec ":" message ":" zsh_action(value[i])
            print "    " spec "' \\"
        }
    }
    n = split(words, part, " ")
    for (k = 1; k <= n; k++) print "    '*" part[k] "[a warning]' \\"
    if (operands == "command")
        print "    '(-)1:program:_command_names -e' \\\n    '*::arguments:_normal'"
    else
        print "    '*:file:_files'"
}

# ---- mdoc(7) ----

function mdoc_text(text) {
    gsub(/\\/, "\\e", text)
    while (match(text, /`[^`]*`/))
        text = substr(text, 1, RSTART - 1) "\\fB" substr(text, RSTART + 1, RLENGTH - 2) "\\fP" substr(text, RSTART + RLENGTH)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

# "fl" of "-fl", "Fl fl" of "--fl", as macros want it.
function mdoc_name(name) {
    sub(/^-/, "", name)
    if (name ~ /^-/) return "Fl Fl " substr(name, 2)
    return "Fl " name
}

function mdoc_value(value,    part, n, i, list) {
    if (value == "") return ""
    n = split(value, part, "|")
    if (n == 1) return " Ar " value
    for (i = 1; i <= n; i++) list = list (i > 1 ? " | " : "") part[i]
    return " Cm " list
}

function sentence(text) { return toupper(substr(text, 1, 1)) substr(text, 2) (text ~ /\.$/ ? "" : ".") }

function mdoc_options(    i, k, n, part, item) {
    print ".Bl -tag -width Ds"
    for (i = 1; i <= count; i++) {
        n = split(names[i], part, " ")
        item = ".It"
        for (k = 1; k <= n; k++)
            item = item (k > 1 ? " , " : " ") mdoc_name(part[k]) \
                (part[k] ~ /=$/ ? " Ns" : "") (k == n || part[k] ~ /=$/ ? mdoc_value(value[i]) : "")
        print item
        print mdoc_text(sentence(text[i]))
        if (more[i] != "") print mdoc_text(more[i])
    }
    print ".El"
}

function mdoc_synonyms(    i, k, n, part, item) {
    print ".Bl -tag -width Ds"
    for (i = 1; i <= count; i++) {
        if (!(i in synonyms)) continue
        n = split(synonyms[i], part, " ")
        item = ".It"
        for (k = 1; k <= n; k++) item = item (k > 1 ? " , " : " ") mdoc_name(part[k])
        print item
        split(names[i], part, " ")
        print "for\n." mdoc_name(part[1]) " ."
    }
    print ".El"
}

function mdoc(    i) {
    for (i = 1; i <= lines; i++)
        if (template[i] == "@OPTIONS@") mdoc_options()
        else if (template[i] == "@SYNONYMS@") mdoc_synonyms()
        else print template[i]
}
