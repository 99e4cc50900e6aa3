// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <uchar.h>
#include <wchar.h>

static const char joined[] = "one" " two\n" "\x41" "B" "\101\0end";
static const wchar_t wide[] = L"w\u00e9" "i" L"de";
static const char16_t sixteen[] = u"s\U0001F600";
static const char32_t thirty_two[] = U"s\U0001F600";
static const char utf8[] = u8"\u20ac";
static const char raw[] = "é€ ünï";
static const char exact[3] = "abc";
static char braced[] = {"braced"}, rows[][4] = {"abc", {"de"}, {'f'}};
char *table[] = {[2] = "two", "three", [0] = "zero"};

int main(void)
{
    printf("%zu %zu %zu %zu %zu %zu\n", sizeof joined, sizeof wide, sizeof sixteen, sizeof thirty_two, sizeof utf8, sizeof raw);
    printf("%s|%s|%s|%c%c%c\n", joined, utf8, raw, exact[0], exact[1], exact[2]);
    printf("%s %s %s %s %s %s\n", braced, rows[0], rows[1], rows[2], table[0], table[3]);
    printf("%d %d %c %c\n", wide[1], sixteen[1], "index"[2], *"first");
    printf("%s %s\n", "continued \
here", "tab\there \\ \"quoted\"");
    printf("%s\n", __FILE__[0] ? "file" : "");
    return sizeof "" + sizeof(L"") + ("a" "b")[1] % 2;
}
