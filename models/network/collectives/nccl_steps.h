// Parts of NCCL's times shared by its algorithms (nccl.c) and its messages (nccl_messages.c). Private to this folder.
#pragma once

#include "models/network/collectives/candidates.h"

double nccl_constant(const Group *group, int id);
bool nccl_rule(const Group *group, RuleId rule); // whether it holds; always but in --rules
// 0 to Volta, 1 Ampere, 2 Hopper and Ada, 3 Blackwell; and which of two ages that is, where no more is known.
int nccl_generation(const Group *group);
int nccl_age(const Group *group);

bool nccl_protocol_allowed(const Group *group, Protocol protocol);
// Share of the links' rate that is payload.
double nccl_inside_share(const Group *group, Protocol protocol);
double nccl_between_share(const Group *group, Protocol protocol);
double nccl_tree_network_share(const Group *group); // and of that what a tree attains between nodes
double nccl_nvlink_rate(const Group *group);        // bytes per second
int nccl_channel_limit(const Group *group);
int nccl_channels_used(const Group *group, Protocol protocol, bool ring, double bytes);

// ---- Seconds.
double nccl_hop_inside(const Group *group, Protocol protocol, int channels);
bool nccl_hops_hide(const Group *group); // within a node, behind the bytes of the same steps
// `message` is what one channel sends at a time, of payload.
double nccl_hop_between(const Group *group, Protocol protocol, int channels, double message);
// Proxy time of a ring that nothing else hides; `message` as above.
double nccl_posting_seconds(const Group *group, Protocol protocol, int steps, double message);
double nccl_network_factor(const Group *group);
double nccl_fill_seconds(const Group *group, Protocol protocol, double bytes);
double nccl_floor_seconds(const Group *group);
double nccl_floor_between_seconds(const Group *group);

double nccl_peer_share(const Group *group);   // of raw, GPU to GPU over PCIe
double nccl_staged_share(const Group *group); // of raw, one way of one GPU over host memory
double nccl_transport_share(const Group *group);
double nccl_socket_rate(const Group *group); // bytes per second of a node

// `inside` and `between` are what the busiest GPU sends per byte of the pattern, to GPUs of its node and beyond.
void nccl_limit_software(const Group *group, double directions, double inside, double between, Candidate *candidate);

// Grouped sends and receives (nccl_messages.c).
Candidate nccl_direct_candidate(const Group *group, CollectiveOp op, bool shift, double bytes);
