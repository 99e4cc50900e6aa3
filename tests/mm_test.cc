// SPDX-License-Identifier: BSD-3-Clause
//
// The matrix multiplication against a plain one, through .npy files.
#include "splitc_run.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

namespace {

struct Matrix {
    size_t rows, columns;
    std::vector<double> at = std::vector<double>(rows * columns);
};

Matrix random_matrix(size_t rows, size_t columns)
{
    std::mt19937 random(static_cast<unsigned>(rows * 1000 + columns));
    std::uniform_real_distribution<double> element(-1, 1);
    Matrix m{rows, columns};

    for (double &x : m.at)
        x = element(random);
    return m;
}

Matrix product(const Matrix &a, const Matrix &b)
{
    Matrix c{a.rows, b.columns};

    for (size_t i = 0; i < a.rows; i++)
        for (size_t j = 0; j < b.columns; j++)
            for (size_t k = 0; k < a.columns; k++)
                c.at[i * c.columns + j] += a.at[i * a.columns + k] * b.at[k * b.columns + j];
    return c;
}

std::string npy_header(int version, const std::string &dictionary)
{
    const size_t length = dictionary.size() + 1;
    std::string head = "\x93NUMPY";

    head += static_cast<char>(version);
    head += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        head += static_cast<char>(length >> (8 * i) & 0xff);
    return head + dictionary + "\n";
}

std::string dictionary(const Matrix &m)
{
    return "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(m.rows) + ", " +
           std::to_string(m.columns) + "), }";
}

std::string bytes_of(const Matrix &m)
{
    return {reinterpret_cast<const char *>(m.at.data()), m.at.size() * sizeof(double)};
}

void write_npy(const std::string &name, const Matrix &m, int version)
{
    write_file(name, npy_header(version, dictionary(m)) + bytes_of(m));
}

// The elements of a file that mm wrote; its header has 128 bytes.
Matrix read_npy(const std::string &name, size_t rows, size_t columns)
{
    const std::string file = read_file(name);
    Matrix m{rows, columns};

    REQUIRE(file.size() == 128 + m.at.size() * sizeof(double));
    CHECK(file.substr(0, 8) == std::string("\x93NUMPY\1\0", 8));
    CHECK_THAT(file.substr(10, 118), Catch::Contains(dictionary(m)));
    std::memcpy(m.at.data(), file.data() + 128, m.at.size() * sizeof(double));
    return m;
}

double largest_difference(const Matrix &a, const Matrix &b)
{
    double largest = 0;

    for (size_t i = 0; i < a.at.size(); i++)
        largest = std::max(largest, std::abs(a.at[i] - b.at[i]));
    return largest;
}

void require_multiplies(size_t rows, size_t inner, size_t columns, int block, int count)
{
    TemporaryFolder folder;
    const Matrix a = random_matrix(rows, inner), b = random_matrix(inner, columns);

    write_npy(folder / "a.npy", a, 1);
    write_npy(folder / "b.npy", b, 2);
    const Outcome outcome =
        run(ranks(count, benchmark("mm"),
                  {"--a", folder / "a.npy", "--b", folder / "b.npy", "--output", folder / "c.npy",
                   "--block-size", std::to_string(block), "--check"}));
    INFO(count << " ranks\n" << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::Contains("verified"));
    CHECK(largest_difference(read_npy(folder / "c.npy", rows, columns), product(a, b)) < 1e-12);
}

void require_refuses(const std::string &a_file, const std::string &message)
{
    TemporaryFolder folder;

    write_file(folder / "a.npy", a_file);
    write_npy(folder / "b.npy", random_matrix(4, 4), 1);
    const Outcome outcome = run(
        ranks(2, benchmark("mm"),
              {"--a", folder / "a.npy", "--b", folder / "b.npy", "--output", folder / "c.npy"}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Catch::Contains("mm: ") && Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(folder / "c.npy"));
}

} // namespace

TEST_CASE("mm multiplies square matrices of whole blocks")
{
    for (int count : {1, 2, 3, 4, 8})
        require_multiplies(64, 64, 64, 16, count);
}

TEST_CASE("mm pads matrices that are no whole blocks")
{
    require_multiplies(37, 53, 29, 16, 3);
}

TEST_CASE("mm multiplies a row by a column, and a column by a row")
{
    require_multiplies(1, 300, 1, 32, 4);
    require_multiplies(50, 1, 50, 8, 4);
}

TEST_CASE("mm multiplies with fewer blocks than ranks")
{
    require_multiplies(5, 5, 5, 128, 8);
}

TEST_CASE("mm multiplies with blocks of one element")
{
    require_multiplies(7, 6, 5, 1, 3);
}

TEST_CASE("mm multiplies random matrices and checks itself")
{
    const Outcome outcome =
        run(ranks(2, benchmark("mm"), {"--blocks", "3", "--block-size", "21", "--check"}));

    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::Contains("63 x 63") && Catch::Contains("M flops/s") &&
                                Catch::Contains("verified"));
}

TEST_CASE("mm refuses files that are no matrix of doubles")
{
    const std::string body(4 * 4 * 8, 'x');
    const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4), }";
    const auto with = [&](const std::string &what, const std::string &instead) {
        std::string changed = good;
        return npy_header(1, changed.replace(changed.find(what), what.size(), instead)) + body;
    };

    require_refuses("", "no .npy file");
    require_refuses("PK\3\4 something else altogether", "no .npy file");
    require_refuses(npy_header(1, good).substr(0, 30), "header is longer");
    require_refuses(npy_header(1, good) + body.substr(1), "shorter than its header says");
    require_refuses(with("<f8", "<f4"), "doubles");
    require_refuses(with("False", "True"), "Fortran");
    require_refuses(with("(4, 4)", "(16,)"), "two dimensions");
    require_refuses(with("(4, 4)", "(-4, 4)"), "two dimensions");
    require_refuses(with("(4, 4)", "(2147483647, 2147483647)"), "shorter than its header says");
    require_refuses(with("(4, 4)", "(99999999999999999999, 4)"), "two dimensions");
    require_refuses(with("(4, 4)", "(2, 8)"), "must be equal");
}
