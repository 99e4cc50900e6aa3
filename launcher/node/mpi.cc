// SPDX-License-Identifier: BSD-3-Clause

#include "node/mpi.h"

#include <algorithm>
#include <elf.h>
#include <fstream>
#include <sstream>

#include "common/process.h"

namespace unetrun {

// ---- ELF files ----------------------------------------------------------------------------

namespace {

constexpr std::size_t name_max = 4096;
constexpr std::size_t entries_max = 65536; // of a table; a file that has more is damaged

template <class T> bool read_at(std::ifstream &file, std::uint64_t offset, T *to, std::size_t count)
{
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char *>(to), static_cast<std::streamsize>(count * sizeof(T)));
    return file.good();
}

std::string text_at(std::ifstream &file, std::uint64_t offset)
{
    std::string text;
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    for (char c; text.size() < name_max && file.get(c) && c != '\0';)
        text += c;
    return text;
}

std::vector<Elf64_Phdr> segments_of(std::ifstream &file)
{
    Elf64_Ehdr head;
    if (!read_at(file, 0, &head, 1) || !std::equal(head.e_ident, head.e_ident + SELFMAG, ELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr))
        return {};
    std::vector<Elf64_Phdr> segments(head.e_phnum);
    if (!read_at(file, head.e_phoff, segments.data(), segments.size()))
        return {};
    return segments;
}

std::vector<Elf64_Dyn> entries_of(std::ifstream &file, const Elf64_Phdr &dynamic)
{
    std::vector<Elf64_Dyn> entries(
        std::min<std::uint64_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), entries_max));
    if (!read_at(file, dynamic.p_offset, entries.data(), entries.size()))
        return {};
    entries.erase(std::find_if(entries.begin(), entries.end(),
                               [](const Elf64_Dyn &e) { return e.d_tag == DT_NULL; }),
                  entries.end());
    return entries;
}

// The offset in the file of what has this address in memory; 0 if nothing has.
std::uint64_t offset_of(const std::vector<Elf64_Phdr> &segments, std::uint64_t address)
{
    for (const Elf64_Phdr &s : segments)
        if (s.p_type == PT_LOAD && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    return 0;
}

std::vector<std::string> names_in(std::ifstream &file, const std::vector<Elf64_Phdr> &segments,
                                  const std::vector<Elf64_Dyn> &entries)
{
    std::vector<std::string> names;
    const auto strings = std::find_if(entries.begin(), entries.end(),
                                      [](const Elf64_Dyn &e) { return e.d_tag == DT_STRTAB; });
    if (strings == entries.end())
        return names;
    for (const Elf64_Dyn &entry : entries)
        if (entry.d_tag == DT_NEEDED)
            names.push_back(
                text_at(file, offset_of(segments, strings->d_un.d_ptr + entry.d_un.d_val)));
    return names;
}

} // namespace

SharedLibraries shared_libraries(const std::string &name)
{
    SharedLibraries found;
    std::ifstream file(name, std::ios::binary);
    const std::vector<Elf64_Phdr> segments = segments_of(file);
    for (const Elf64_Phdr &segment : segments) {
        if (segment.p_type == PT_INTERP)
            found.loader = text_at(file, segment.p_offset);
        if (segment.p_type == PT_DYNAMIC)
            found.names = names_in(file, segments, entries_of(file, segment));
    }
    return found;
}

// ---- MPI -------------------------------------------------------------------------------------

namespace {

// MPICH and the MPIs that are compatible (Intel, Cray, MVAPICH) have agreed on this number.
bool is_mpich(const std::string &library)
{
    return library.starts_with("libmpi") && library.find(".so.12") != std::string::npos;
}

bool is_open_mpi(const std::string &library)
{
    return library.starts_with("libmpi.so.") && !is_mpich(library);
}

// Where the loader finds a library.  Its lines are
// "        libmpich.so.12 => /usr/lib/libmpich.so.12 (0x...)".
std::string path_of(const std::string &library, const std::string &loaded)
{
    const std::size_t at = loaded.find(library + " => ");
    if (at == std::string::npos)
        return {};
    const std::size_t begin = at + library.size() + 4;
    return loaded.substr(begin, loaded.find(" (", begin) - begin);
}

bool speaks_pmix(const std::string &library, const std::string &loader, const std::string &program,
                 const std::vector<std::string> &environment)
{
    const std::string path = path_of(library, output_of({loader, "--list", program}, environment));
    const std::vector<std::string> names = shared_libraries(path).names;
    return std::any_of(names.begin(), names.end(),
                       [](const std::string &name) { return name.starts_with("libpmix"); });
}

} // namespace

std::string mpi_warning(const std::string &program, bool real_nodes,
                        const std::vector<std::string> &environment)
{
    const SharedLibraries libraries = shared_libraries(program);
    const auto &names = libraries.names;
    const auto mpich = std::find_if(names.begin(), names.end(), is_mpich);
    if (mpich != names.end() && !speaks_pmix(*mpich, libraries.loader, program, environment))
        return program + " is linked with an MPI (" + *mpich +
               ") that does not speak PMIx: each rank will be alone in MPI_COMM_WORLD; start it "
               "with that MPI's mpiexec, or build it with Open MPI";
    if (!real_nodes && std::any_of(names.begin(), names.end(), is_open_mpi))
        return program + " is linked with Open MPI, which cannot take one machine for several "
                         "(--nodes): each rank will be alone in MPI_COMM_WORLD";
    return {};
}

} // namespace unetrun
