-- SPDX-License-Identifier: BSD-3-Clause
--
-- neovim.lua, for nvim --headless -u NONE -c 'luafile neovim.lua' FILE: starts the server that
-- $SPLITC_LSP names for the file, and prints the diagnostics of line 4, what is under the cursor
-- at line 3, column 6, and where that is declared, as neovim has them.
local function wait_for(what, condition)
  if not vim.wait(20000, condition, 20) then
    print('no ' .. what)
    vim.cmd('cquit 1')
  end
end

local function main()
  local client = vim.lsp.start_client({ name = 'splitc', cmd = { vim.env.SPLITC_LSP }, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, client)
  wait_for('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  for _, found in ipairs(vim.diagnostic.get(0)) do
    print(('%d:%d: %s'):format(found.lnum + 1, found.col + 1, found.message))
  end
  vim.api.nvim_win_set_cursor(0, { 3, 5 })
  local position = vim.lsp.util.make_position_params()
  local function ask(method)
    local answers = vim.lsp.buf_request_sync(0, method, position, 20000)
    return answers and answers[client] and answers[client].result
  end
  print(ask('textDocument/hover').contents.value)
  print('declared in line ' .. ask('textDocument/definition').range.start.line + 1)
  -- The mistake is mended, and neovim hears of it.
  vim.api.nvim_buf_set_lines(0, 3, 4, false, { '    return *p;' })
  wait_for('end of diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
  print('mended')
  vim.lsp.stop_client(client)
  wait_for('end', function() return vim.lsp.client_is_stopped(client) end)
end

local good, why = pcall(main)
if not good then print(why) end
vim.cmd(good and 'qall!' or 'cquit 1')
