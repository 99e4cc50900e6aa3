
typedef struct node { int val; unsigned b:3, c:5; struct node *global next; double arr[4]; struct { int q; } in; } node_t;
struct { int x; int *global p, y; } anon;
typedef int *global gip;
int G[8]::[3];
static double D[PROCS]::;
int *global gp = NULL, plain = 4, *lp;

int *global pick(int *global a, int *global b, int w) { return w ? a : b; }
int sum(int v, int w, int q, int X[v][w]::[q]) {
  int i, j, k, s = 0;
  for (i = 0; i < v; i++) for (j = 0; j < w; j++) for (k = 0; k < q; k++) s += X[i][j][k];
  return s;
}
int kr(a, n) int *spread a; int n; { int i, s = 0; for (i = 0; i < n; i++) s += a[i]; return s; }
int bad;
node_t local;
splitc_main(int argc, char **argv)
{
  int x, i, j, n = 5, m = 2;
  int A[n][m]::[3], B[n]::, *q = &x;
  node_t *global g = toglobal((MYPROC + 1) % PROCS, &local);
  local.val = 100 + MYPROC; local.b = MYPROC & 7; local.c = 9; local.arr[2] = 2.5 * MYPROC; local.in.q = 7;
  local.next = g;
  barrier();
  int right = (MYPROC + 1) % PROCS;
  CHECK(g->val == 100 + right);
  CHECK((*g).val == 100 + right);
  CHECK(g->b == (right & 7));
  CHECK(g->arr[2] == 2.5 * right);
  CHECK(g->next->val == 100 + (right + 1) % PROCS);
  CHECK(g->in.q == 7);
  barrier();
  g->val += 10; g->b = 5; g->b++; g->c -= 2;
  barrier();
  CHECK(local.val == 110 + MYPROC); CHECK(local.b == 6); CHECK(local.c == 7);
  { node_t c = *g; CHECK(c.val == 110 + right); c.val++; *g = c; }
  barrier();
  CHECK(local.val == 111 + MYPROC);
  on_one for (i = 0; i < n; i++) for (j = 0; j < m; j++) { A[i][j][0] = i; A[i][j][1] = j; A[i][j][2] = 1; B[i] = i * i; }
  barrier();
  CHECK(sum(n, m, 3, A) == (0+1+2+3+4)*2 + 5 + 10);
  CHECK(kr(B, 5) == 30);
  CHECK(B[3] == 9);
  { int *spread sp = B; int *global gg = &B[3]; CHECK(*gg == 9); CHECK(*(sp + 2) == 4); sp += 4; CHECK(*sp-- == 16); CHECK(*sp == 9); CHECK(sp - B == 3); CHECK(sp > B); CHECK(toproc(gg) == 3 % PROCS); 
    int *global z = NULL; CHECK(!z); CHECK(z == NULL); CHECK(gg != z); }
  GET(x, B[4]); sync(); CHECK(x == 16);
  x := B[2]; sync(); CHECK(x == 4);
  B[1] := 50 + 0; sync();
  barrier(); CHECK(B[1] == 50);
  barrier();
  B[(MYPROC) % n] :- MYPROC + 1000;
  all_store_sync();
  for (i = 0; i < (PROCS < n ? PROCS : n); i++) CHECK(B[i] == 1000 + i);
  x = MYPROC ? 1 :-1; CHECK(x == (MYPROC ? 1 : -1));
  { int (*l)[3] = tolocal(A[0]); (void)l; int *ll = tolocal(A[0][0]); (void)ll; int (*spread bp)[3] = A; CHECK(bp[3][1] == 1); CHECK(sizeof(*bp) == 12); CHECK(sizeof(A[0][0]) == 12);}
  *pick(&B[0], &B[1], 0) = 77; barrier(); CHECK(B[1] == 77);
  for (int *global t = &B[0], k = 0; k < 1; k++) { CHECK(*t == *&B[0]); }
  { gip h = &B[2]; gip arr[2] = { h, NULL }; struct { gip a; int b; } s = { .b = 3 , .a = 0 }; CHECK(arr[0] == h && !arr[1] && !s.a); int v = *h; CHECK((*h)++ == v); CHECK(*h >= v + 1); }
  barrier();
  G[0][1] = 3; D[MYPROC] = MYPROC * 1.5; barrier(); CHECK(D[PROCS - 1] == (PROCS - 1) * 1.5); CHECK(all_reduce_to_all_add(MYPROC) == PROCS * (PROCS - 1) / 2);
  { void *spread vs = all_spread_malloc(10, sizeof(int)); int *spread is = vs; is[7] = 3; int *loc = (int *)is; (void)loc; barrier(); all_spread_free(vs); }
  
  if (!bad) printf("ok %d\n", MYPROC);
}
