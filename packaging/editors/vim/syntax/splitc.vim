" SPDX-License-Identifier: BSD-3-Clause
" Vim syntax file
" Language: Split-C

if exists('b:current_syntax')
  finish
endif
runtime! syntax/c.vim
unlet! b:current_syntax

" These are words of the language behind a '*' alone, and names elsewhere.
syntax match splitcQualifier '\%(\*\s*\%(const\s\+\|volatile\s\+\)*\)\@<=\%(global\|spread\)\>'
syntax match splitcOperator ':='
syntax match splitcOperator '\%(?[^;]*\)\@<!:-'
syntax match splitcSpread '::'
syntax keyword splitcConstant MYPROC PROCS PROCSLOG
syntax keyword splitcStatement on_one on_proc for_my_1d for_my_2d
syntax keyword splitcFunction splitc_main splitc_exit splitc_lock splitc_trylock splitc_unlock
syntax keyword splitcFunction toglobal tospread tolocal toproc castable atomic get_seconds
syntax keyword splitcFunction barrier sync is_sync sync_h test_h
syntax keyword splitcFunction store_sync is_store_sync reset_store_sync all_store_sync
syntax keyword splitcFunction test_and_set
syntax match splitcFunction '\<\%(all\|bulk\|team\|fetch\|exchange\|cmp_and_swap\)_\w\+\>'
syntax match splitcFunction '\<\%(exchange\|cmp_and_swap\)\>\ze\s*('

highlight default link splitcQualifier Type
highlight default link splitcOperator Operator
highlight default link splitcSpread Operator
highlight default link splitcConstant Constant
highlight default link splitcStatement Statement
highlight default link splitcFunction Function

let b:current_syntax = 'splitc'
