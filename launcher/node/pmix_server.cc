// SPDX-License-Identifier: BSD-3-Clause

#include "node/pmix_server.h"

#include <cstdlib>
#include <map>
#include <pmix.h>
#include <pmix_server.h>

#include "common/failure.h"
#include "common/networks.h"

namespace unetrun {

// ---- what the library is told -----------------------------------

namespace {

void check(pmix_status_t status, const std::string &what)
{
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        throw Failure(exit_trouble,
                      "the PMIx library cannot " + what + ": " + PMIx_Error_string(status));
}

// A growing list of keys and values.
class InfoList {
public:
    InfoList() : list_(PMIx_Info_list_start()) { PMIX_DATA_ARRAY_CONSTRUCT(&array_, 0, PMIX_INFO); }
    ~InfoList()
    {
        PMIx_Info_list_release(list_);
        PMIX_DATA_ARRAY_DESTRUCT(&array_);
    }
    InfoList(const InfoList &) = delete;
    InfoList &operator=(const InfoList &) = delete;

    void add(const char *key, const void *value, pmix_data_type_t type)
    {
        check(PMIx_Info_list_add(list_, key, value, type), std::string("take the value of ") + key);
    }
    void add_number(const char *key, std::uint32_t value) { add(key, &value, PMIX_UINT32); }
    void add_short(const char *key, std::uint16_t value) { add(key, &value, PMIX_UINT16); }
    void add_rank(const char *key, pmix_rank_t value) { add(key, &value, PMIX_PROC_RANK); }
    void add_text(const char *key, const std::string &text) { add(key, text.c_str(), PMIX_STRING); }

    // The list as an array, which belongs to this object.
    pmix_data_array_t &array()
    {
        check(PMIx_Info_list_convert(list_, &array_), "convert a list");
        return array_;
    }

private:
    void *list_;
    pmix_data_array_t array_;
};

pmix_info_t *infos(pmix_data_array_t &array)
{
    return static_cast<pmix_info_t *>(array.array);
}

std::string rank_list(const std::vector<std::uint32_t> &ranks)
{
    std::string list;
    for (const std::uint32_t rank : ranks)
        list += (list.empty() ? "" : ",") + std::to_string(rank);
    return list;
}

// "a,b" and "0,1;2,3": the nodes, and the ranks of each, in PMIx's compressed form.
void add_maps(InfoList &list, const Job &job)
{
    std::vector<std::string> ranks_of(job.hosts.size());
    for (std::uint32_t rank = 0; rank < job.ranks(); rank++) {
        std::string &list_of_node = ranks_of[job.node_of[rank]];
        list_of_node += (list_of_node.empty() ? "" : ",") + std::to_string(rank);
    }
    std::string nodes, ranks;
    for (std::size_t i = 0; i < job.hosts.size(); i++) {
        nodes += (i == 0 ? "" : ",") + job.hosts[i];
        ranks += (i == 0 ? "" : ";") + ranks_of[i];
    }
    char *expression = nullptr;
    check(PMIx_generate_regex(nodes.c_str(), &expression), "describe the nodes");
    list.add(PMIX_NODE_MAP, expression, PMIX_REGEX);
    std::free(expression);
    check(PMIx_generate_ppn(ranks.c_str(), &expression), "describe the ranks");
    list.add(PMIX_PROC_MAP, expression, PMIX_REGEX);
    std::free(expression);
}

void add_rank_info(InfoList &list, const Job &job, std::uint32_t rank, std::uint16_t local_rank)
{
    const std::uint32_t node = job.node_of[rank];
    InfoList about;
    about.add_rank(PMIX_RANK, rank);
    about.add_rank(PMIX_GLOBAL_RANK, rank);
    const std::size_t program = job.program_of(rank);
    about.add_rank(PMIX_APP_RANK, rank - job.first_rank_of(program));
    about.add_number(PMIX_APPNUM, static_cast<std::uint32_t>(program));
    about.add_short(PMIX_LOCAL_RANK, local_rank);
    about.add_short(PMIX_NODE_RANK, local_rank);
    about.add_number(PMIX_NODEID, node);
    about.add_text(PMIX_HOSTNAME, job.hosts[node]);
    list.add(PMIX_PROC_INFO_ARRAY, &about.array(), PMIX_DATA_ARRAY);
}

void add_program_info(InfoList &list, const Job &job, std::size_t program)
{
    InfoList about;
    about.add_number(PMIX_APPNUM, static_cast<std::uint32_t>(program));
    about.add_number(PMIX_APP_SIZE, job.programs[program].ranks);
    about.add_rank(PMIX_APPLDR, job.first_rank_of(program));
    list.add(PMIX_APP_INFO_ARRAY, &about.array(), PMIX_DATA_ARRAY);
}

void add_job_info(InfoList &list, const Job &job, std::uint32_t node)
{
    list.add_text(PMIX_JOBID, job.id);
    list.add_number(PMIX_UNIV_SIZE, job.ranks());
    list.add_number(PMIX_JOB_SIZE, job.ranks());
    list.add_number(PMIX_MAX_PROCS, job.ranks());
    list.add_number(PMIX_JOB_NUM_APPS, static_cast<std::uint32_t>(job.programs.size()));
    for (std::size_t program = 0; program < job.programs.size() && job.programs.size() > 1;
         program++)
        add_program_info(list, job, program);
    list.add_number(PMIX_NUM_NODES, static_cast<std::uint32_t>(job.hosts.size()));
    const std::vector<std::uint32_t> local = job.ranks_of(node);
    list.add_number(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(local.size()));
    list.add_text(PMIX_LOCAL_PEERS, rank_list(local));
    add_maps(list, job);
    std::vector<std::uint16_t> local_rank(job.hosts.size());
    for (std::uint32_t rank = 0; rank < job.ranks(); rank++)
        add_rank_info(list, job, rank, local_rank[job.node_of[rank]]++);
}

pmix_proc_t process_of(const std::string &job_id, pmix_rank_t rank)
{
    pmix_proc_t process{};
    job_id.copy(process.nspace, sizeof process.nspace - 1);
    process.rank = rank;
    return process;
}

} // namespace

// ---- what the library calls, in its own thread ------------------------------

// The requests of the library that wait for other nodes.  Used in the event loop's thread only.
struct PmixState {
    struct Request {
        pmix_modex_cbfunc_t answer;
        void *argument;
    };

    std::string job_id;
    std::uint32_t node;
    Mailbox &mailbox;
    PmixHost &host;
    std::uint64_t next_ticket = 1;
    std::map<std::uint64_t, Request> requests;

    std::uint64_t add(Request request)
    {
        requests.emplace(next_ticket, request);
        return next_ticket++;
    }
    void answer(std::uint64_t ticket, pmix_status_t status, const std::string &data);
};

namespace {

PmixState *state; // a global variable, as the callbacks get no argument of the caller's

pmix_status_t on_connected(const pmix_proc_t *process, void *, pmix_info_t *, std::size_t,
                           pmix_op_cbfunc_t, void *)
{
    state->mailbox.post([rank = process->rank] { state->host.rank_joined(rank); });
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_finalized(const pmix_proc_t *process, void *, pmix_op_cbfunc_t, void *)
{
    state->mailbox.post([rank = process->rank] { state->host.rank_left(rank); });
    return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t on_abort(const pmix_proc_t *process, void *, int status, const char *text,
                       pmix_proc_t *, std::size_t, pmix_op_cbfunc_t, void *)
{
    const Aborted abort{process->rank, status, text ? text : ""};
    state->mailbox.post([abort] { state->host.rank_aborted(abort); });
    return PMIX_OPERATION_SUCCEEDED;
}

// The callback has to free the data.
pmix_status_t on_fence(const pmix_proc_t *processes, std::size_t count, const pmix_info_t *,
                       std::size_t, char *data, std::size_t size, pmix_modex_cbfunc_t answer,
                       void *argument)
{
    Fence fence;
    if (data)
        fence.data.assign(data, size);
    std::free(data);
    for (std::size_t i = 0; i < count; i++)
        fence.ranks.push_back(processes[i].rank);
    if (count == 1 && processes[0].rank == PMIX_RANK_WILDCARD)
        fence.ranks.clear();
    state->mailbox.post([fence = std::move(fence), answer, argument]() mutable {
        fence.ticket = state->add({answer, argument});
        state->host.fence(fence);
    });
    return PMIX_SUCCESS;
}

pmix_status_t on_modex(const pmix_proc_t *process, const pmix_info_t *, std::size_t,
                       pmix_modex_cbfunc_t answer, void *argument)
{
    state->mailbox.post([rank = process->rank, answer, argument] {
        state->host.modex({state->add({answer, argument}), state->node, rank});
    });
    return PMIX_SUCCESS;
}

// The answer to look_up.  The data belongs to the library.
void on_looked_up(pmix_status_t status, char *data, std::size_t size, void *argument)
{
    const std::unique_ptr<Modex> asked(static_cast<Modex *>(argument));
    ModexDone done{asked->ticket, asked->node, status, {}};
    if (status == PMIX_SUCCESS && data)
        done.data.assign(data, size);
    state->mailbox.post([done = std::move(done)] { state->host.modex_done(done); });
}

pmix_server_module_t callbacks()
{
    pmix_server_module_t module{};
    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.direct_modex = on_modex;
    return module;
}

} // namespace

void PmixState::answer(std::uint64_t ticket, pmix_status_t status, const std::string &data)
{
    const auto found = requests.find(ticket);
    if (found == requests.end())
        return; // nobody waits for it
    const Request request = found->second;
    requests.erase(found);
    auto *copy = new std::string(data); // the library says when it is no longer needed
    request.answer(
        status, copy->data(), copy->size(), request.argument,
        [](void *done) { delete static_cast<std::string *>(done); }, copy);
}

// ---- the server ---------------------------------------------------------------

namespace {

// The environment may be that of a rank, if unetrun itself runs in a job.
void forget_outer_job()
{
    for (const char *name :
         {"PMIX_NAMESPACE", "PMIX_RANK", "PMIX_SERVER_URI", "PMIX_SERVER_URI2", "PMIX_SERVER_URI21",
          "PMIX_SERVER_URI3", "PMIX_SERVER_URI4", "PMIX_SERVER_URI41"})
        unsetenv(name);
    // Job data goes by messages, as the store in shared memory costs each rank 20 ms at its start.
    setenv("PMIX_MCA_gds", "hash", 0);
}

void start_library(const Job &job, std::uint32_t node, const std::string &directory,
                   hwloc_topology_t topology)
{
    if (!any_interface_is_up())
        throw Failure(exit_trouble,
                      "no network interface is up, and the PMIx library needs one even "
                      "within a machine: bring one up, as by ip link set lo up");
    static pmix_server_module_t module = callbacks();
    char source[] = "hwloc";
    pmix_topology_t loaded{source, topology};
    InfoList list;
    list.add_text(PMIX_SERVER_NSPACE, job.id + ".server");
    list.add_rank(PMIX_SERVER_RANK, node);
    list.add_text(PMIX_SERVER_TMPDIR, directory);
    list.add_text(PMIX_SYSTEM_TMPDIR, directory);
    list.add_text(PMIX_HOSTNAME, job.hosts[node]);
    list.add(PMIX_TOPOLOGY2, &loaded, PMIX_TOPO);
    pmix_data_array_t &array = list.array();
    check(PMIx_server_init(&module, infos(array), array.size), "start its server");
}

void register_job(const Job &job, std::uint32_t node)
{
    InfoList list;
    add_job_info(list, job, node);
    pmix_data_array_t &array = list.array();
    check(PMIx_server_register_nspace(job.id.c_str(), static_cast<int>(job.ranks_of(node).size()),
                                      infos(array), array.size, nullptr, nullptr),
          "register the job");
}

} // namespace

PmixServer::PmixServer(const Job &job, std::uint32_t node, const std::string &directory,
                       hwloc_topology_t topology, Mailbox &mailbox, PmixHost &host)
    : state_(*new PmixState{job.id, node, mailbox, host, 1, {}})
{
    state = &state_;
    forget_outer_job();
    start_library(job, node, directory, topology);
    register_job(job, node);
}

std::vector<std::string> PmixServer::environment_of(std::uint32_t rank)
{
    const pmix_proc_t process = process_of(state_.job_id, rank);
    check(PMIx_server_register_client(&process, geteuid(), getegid(), nullptr, nullptr, nullptr),
          "register a rank");
    char **variables = nullptr;
    check(PMIx_server_setup_fork(&process, &variables), "prepare a rank's environment");
    std::vector<std::string> environment;
    for (char **variable = variables; variable && *variable; variable++) {
        environment.emplace_back(*variable);
        std::free(*variable);
    }
    std::free(variables);
    return environment;
}

void PmixServer::finish_fence(const FenceDone &done)
{
    state_.answer(done.ticket, done.good ? PMIX_SUCCESS : PMIX_ERROR, done.data);
}

void PmixServer::finish_modex(const ModexDone &done)
{
    state_.answer(done.ticket, done.status, done.data);
}

void PmixServer::look_up(const Modex &modex)
{
    const pmix_proc_t process = process_of(state_.job_id, modex.rank);
    auto *asked = new Modex(modex);
    const pmix_status_t status = PMIx_server_dmodex_request(&process, on_looked_up, asked);
    if (status != PMIX_SUCCESS)
        on_looked_up(status, nullptr, 0, asked);
}

std::string pmix_version()
{
    return PMIx_Get_version();
}

} // namespace unetrun
