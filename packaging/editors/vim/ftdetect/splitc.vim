" SPDX-License-Identifier: BSD-3-Clause
" Vim itself takes *.sc for SuperCollider or Scala.
autocmd BufRead,BufNewFile *.sc set filetype=splitc
