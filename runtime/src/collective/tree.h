/* SPDX-License-Identifier: BSD-3-Clause
 *
 * tree.h - the shape of the tree that reductions climb.
 */
#ifndef SPLITC_TREE_H
#define SPLITC_TREE_H

#include "team.h"

/* The lowest level on which an edge of the members [from, to) leads to another node; node[i] is the
 * one of member i. */
unsigned splitc_tree_level_inside(const uint32_t *node, uint32_t from, uint32_t to);

/* Below that level of all members the values of a node are gathered first. */
void splitc_tree_choose_height(struct splitc_team *t, unsigned inside);

#endif
