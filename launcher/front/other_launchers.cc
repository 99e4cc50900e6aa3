// SPDX-License-Identifier: BSD-3-Clause

#include "front/other_launchers.h"

#include <sstream>

namespace unetrun {

namespace {

const struct {
    const char *name, *ours;
} synonyms[] = {
    {"--np", "-n"},
    {"-hosts", "--hosts"},
    {"--host", "--hosts"},
    {"-host", "--hosts"},
    {"-H", "--hosts"},
    {"-hostfile", "--hostfile"},
    {"--machinefile", "--hostfile"},
    {"-machinefile", "--hostfile"},
    {"-f", "--hostfile"},
    {"-ppn", "--ppn"},
    {"-map-by", "--map-by"},
    {"-bind-to", "--bind-to"},
    {"-wdir", "--wdir"},
    {"--wd", "--wdir"},
    {"-wd", "--wdir"},
    {"-iface", "--iface"},
    {"-report-bindings", "--report-bindings"},
    {"-outfile-pattern", "--output"},
    {"--output-filename", "--output"},
    {"-configfile", "--configfile"},
    {"--app", "--configfile"},
    {"-app", "--configfile"},
};

struct Answer {
    const char *options; // separated by blanks
    const char *ours;
};

const Answer answers[] = {
    {"-N --npernode -npernode --ntasks-per-node -perhost",
     "unetrun says --ppn K for so many ranks on each host, and names the hosts by --hosts"},
    {"--ntasks --n", "unetrun says -n N"},
    {"--nodelist -w --nodefile --hostlist", "unetrun says --hosts A,B:4, or --hostfile FILE"},
    {"--oversubscribe -oversubscribe --overcommit -O",
     "leave it out: unetrun starts as many ranks as -n says, cores or no cores"},
    {"-genv -env --env -genvlist -envlist --export", "unetrun says -x NAME=VALUE"},
    {"-genvall -envall -genvnone -envnone",
     "leave it out: ranks have unetrun's environment, and what -x says"},
    {"--mca -mca --prtemca --gmca --pmixmca", "leave it out: it is for Open MPI"},
    {"--mpi", "leave it out: it is for srun; unetrun is a PMIx server itself"},
    {"--allow-run-as-root", "leave it out: root may run unetrun"},
    {"--bynode -bynode --rr --distribution", "unetrun says --map-by node"},
    {"--byslot -byslot", "unetrun says --map-by slot"},
    {"--cpu-bind --cpu_bind --bind-to-core -bind-to-core -binding", "unetrun says --bind-to core"},
    {"-l --label --tag -prepend-rank", "unetrun says --tag-output"},
    {"-D --chdir --cwd", "unetrun says --wdir DIR"},
    {"-c --cpus-per-task --cpus-per-rank", "unetrun says --bind-to core:K"},
    {"-launcher --launcher -launcher-exec --launch-agent -bootstrap -bootstrap-exec",
     "unetrun says --rsh CMD"},
    {"-t --time", "unetrun says --timeout S, in seconds"},
    {"--multi-prog", "unetrun says -n 2 ./a : -n 2 ./b, or --configfile FILE"},
    {"--prefix -prefix", "leave it out: hosts have unetrun at the path where this one has it"},
    {"--preload-binary -s --bcast", "unetrun says --stage"},
};

} // namespace

std::string our_option_for(const std::string &option)
{
    for (const auto &synonym : synonyms)
        if (option == synonym.name)
            return synonym.ours;
    return {};
}

std::string synonyms_of(const std::string &ours, const std::string &between)
{
    std::string names;
    for (const auto &synonym : synonyms)
        if (ours == synonym.ours)
            names += (names.empty() ? "" : between) + std::string(synonym.name);
    return names;
}

std::string our_word_for(const std::string &option)
{
    for (const Answer &answer : answers) {
        std::istringstream words(answer.options);
        for (std::string word; words >> word;)
            if (word == option)
                return answer.ours;
    }
    return {};
}

} // namespace unetrun
