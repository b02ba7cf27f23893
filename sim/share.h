// Fair sharing of links: weighted max-min. An activity moves payload at one rate and loads each link it uses with
// weight x rate; rates rise together (in proportion to fairness) until a link is full, and so on for the rest.
#pragma once

#include "sim/program.h"

// The pure function: rates[i] in payload bytes per second for each plan running at the same time on these links.
// Plans without uses and without rate_limit get INFINITY.
void share_links(Arena *arena, const Link *links, int link_count, const Plan *const *plans, int plan_count,
                 double *rates);

// Of the first `link_count` links the one that a plan fills most; NULL: it uses none of them.
const char *share_fullest_link(const Link *links, int link_count, const Plan *plan);
