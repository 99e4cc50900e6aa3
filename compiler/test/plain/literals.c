#include <stdio.h>
#include <wchar.h>

int main(void)
{
    const wchar_t *w = L"wide \x263a" L" more";
    const char *u = u8"\u00e9\"\\" "\0dd";
    const unsigned short *u16 = (const unsigned short *)u"sixteen";
    const unsigned *u32 = (const unsigned *)U"\U0001F600";
    printf("%ls %s %d %d %x\n", w + 7, u + 2, u16[1], (int)sizeof(u"ab"), u32[0]);
    printf("%d %d %d %d %d\n", 'ab', '\'', '"', L'\x3b1', '\0' + '\377' + '\e');
    printf("%g %g %a %g %Lg\n", 1e3, .5f, 0x1.8p3, 5., 1.5L);
    printf("%u %ld %llu %d %d\n", 0xFFFFFFFFu, 123L, 1ull << 40, 0b101, 017);
    printf("a" /* comment */ "b" // another
           "c\
d\n");
    printf("%zu %d\n", sizeof "abc", "xyz"[1]);
    return 'a' < 'b' ? 1:-1;
}
