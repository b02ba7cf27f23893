// Nodes read from nvidia-smi topo -m and NCCL's XML: everything that is in the files comes out again.
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "models/network/interior.h"
#include "models/workload/cluster/cluster.h"
#include "scenarios/questions/collective_asked.h"
#include "sim/system/file.h"
#include "tests/command.h"
#include "tests/test.h"

#define TEXT_BYTES 65536

static const NodeInterior *matrix(Arena *arena, const char *text) {
    Problems *problems = problems_create(arena);
    const NodeInterior *interior = interior_from_matrix(arena, "machine.txt", text, problems);
    if (!interior) problems_print(problems, stdout);
    return interior;
}

static const char *complaint(Arena *arena, const char *text) {
    Problems *problems = problems_create(arena);
    const NodeInterior *interior = interior_from_text(arena, "f", text, strlen(text), problems);
    if (interior || problem_count(problems) == 0) return "nothing";
    const Problem *problem = problem_at(problems, 0);
    return arena_printf(arena, "%d: %s", problem->where.line, problem->text);
}

static const Cluster *one_node(Arena *arena, const Catalogue *catalogue, const NodeType *type) {
    Problems *problems = problems_create(arena);
    NodeGroup *group = ARENA_NEW(arena, NodeGroup);
    ClusterSpec *spec = ARENA_NEW(arena, ClusterSpec);
    *group = (NodeGroup){.type = type, .gpus = type->gpu_count};
    *spec = (ClusterSpec){.groups = group, .group_count = 1, .price_per_gpu_hour = -1};
    const Cluster *cluster = cluster_create(arena, catalogue, spec, problems);
    if (!cluster) problems_print(problems, stdout);
    return cluster;
}

static const char *printed(Arena *arena, const Network *network) {
    char *text = arena_alloc(arena, TEXT_BYTES);
    FILE *out = fmemopen(text, TEXT_BYTES - 1, "w");
    network_print_matrix(network, 0, out);
    fclose(out);
    return text;
}

// A GPU with as many NVLinks as the matrix needs, or any when it has none.
static const Gpu *some_gpu(const Catalogue *catalogue, const NodeInterior *interior) {
    int most = 0, pairs = 0;
    for (int b = 1; b < interior->gpu_count; b++) {
        int links = interior_nvlinks(interior, 0, b);
        most = links > most ? links : most;
        pairs += links > 0;
    }
    const char *name = most > 12 || (most == 6 && pairs == 3) ? "H100-SXM5-80GB" : most > 0 ? "A100-SXM4-80GB" : "A40";
    return catalogue_gpu(catalogue, name);
}

static const NodeType *imported(Arena *arena, const Catalogue *catalogue, const NodeInterior *interior,
                                const Gpu *gpu) {
    Problems *problems = problems_create(arena);
    const NodeType *type =
        node_from_interior(arena, catalogue, "machine.txt", interior, gpu, NULL, (Where){0}, problems);
    if (!type) problems_print(problems, stdout);
    return type;
}

static const char *imported_and_printed(Arena *arena, const Catalogue *catalogue, const char *text, const Gpu *gpu) {
    const NodeInterior *interior = matrix(arena, text);
    const NodeType *type =
        interior ? imported(arena, catalogue, interior, gpu ? gpu : some_gpu(catalogue, interior)) : NULL;
    const Cluster *cluster = type ? one_node(arena, catalogue, type) : NULL;
    return cluster ? printed(arena, cluster->network) : "nothing";
}

static int is_text(const struct dirent *entry) { return strstr(entry->d_name, ".txt") != NULL; }

static void expect_whole(Arena *arena, const Catalogue *catalogue, const char *path) {
    size_t bytes;
    const char *text = file_read(arena, path, 1 << 20, &bytes, problems_create(arena));
    const NodeInterior *first = matrix(arena, text);
    if (!first) test_fail(__FILE__, __LINE__, "%s is not read", path);
    if (!first) return;
    const NodeInterior *second = matrix(arena, imported_and_printed(arena, catalogue, text, NULL));
    int parts = interior_parts(first);
    EXPECT_INT(interior_parts(second), parts);
    for (int i = 0; i < parts * parts; i++)
        if (first->cells[i] != CELL_UNKNOWN && first->cells[i] != second->cells[i])
            test_fail(__FILE__, __LINE__, "%s: cell %d, %d was %d and is %d", path, i / parts, i % parts,
                      first->cells[i], second->cells[i]);
    for (int g = 0; g < first->gpu_count; g++) EXPECT_INT(second->numa[g], first->numa[g]);
    for (int n = 0; n < first->nic_count; n++) EXPECT_TEXT(second->nic_names[n], first->nic_names[n]);
}

TEST(every_published_matrix_is_read_and_printed_again) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    struct dirent **entries = NULL;
    int count = scandir("tests/data/topo", &entries, is_text, alphasort);
    EXPECT_INT(count, 31);
    for (int i = 0; i < count; i++) {
        expect_whole(arena, catalogue, arena_printf(arena, "tests/data/topo/%s", entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    arena_close(arena);
}

TEST(every_node_of_the_catalogue_survives_being_printed_and_read) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (int i = 0; i < catalogue->node_count; i++) {
        const NodeType *type = &catalogue->nodes[i];
        const Network *network = one_node(arena, catalogue, type)->network;
        const char *text = printed(arena, network);
        EXPECT_TEXT(imported_and_printed(arena, catalogue, text, node_gpu(catalogue, type, 0)), text);
    }
    arena_close(arena);
}

// The imported node has links as fast as the catalogue's own, where its GPUs are linked by a switch, a mesh or pairs.
TEST(an_imported_catalogue_node_has_the_routes_of_the_original) {
    static const char *const names[] = {"dgx-a100", "dgx-h100", "dgx-1-v100"};
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const NodeType *type = catalogue_node(catalogue, names[i]);
        const Network *original = one_node(arena, catalogue, type)->network;
        const NodeInterior *interior = matrix(arena, printed(arena, original));
        const NodeType *copy = imported(arena, catalogue, interior, node_gpu(catalogue, type, 0));
        const Network *twin = one_node(arena, catalogue, copy)->network;
        EXPECT_INT(copy->gpu_links, type->gpu_links);
        EXPECT_INT(copy->sockets, type->sockets);
        for (int a = 0; a < type->gpu_count; a++)
            for (int b = 0; b < type->gpu_count; b++) {
                int32_t links[NETWORK_ROUTE_LIMIT], same[NETWORK_ROUTE_LIMIT];
                double latency, twin_latency;
                int link_count, hops = network_route(original, a, b, links, &latency);
                EXPECT_INT(network_route(twin, a, b, same, &twin_latency), hops);
                EXPECT_NEAR(twin_latency, latency, 1e-12);
                for (int h = 0; h < hops; h++)
                    EXPECT_NEAR(network_links(twin, &link_count)[same[h]].bytes_per_second,
                                network_links(original, &link_count)[links[h]].bytes_per_second, 1e-9);
            }
    }
    arena_close(arena);
}

TEST(a_matrix_may_come_with_colours_legends_and_words_around_it) {
    Arena *arena = arena_open();
    const NodeInterior *interior =
        matrix(arena, "Sat Nov 21 14:00:00\r\n"
                      "  NIC0: mlx5_7\n\nLegend:\n  X    = Self\n"
                      "GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb     Device  0: (UUID: x)\n"
                      "\t\033[4mGPU0\tGPU10\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\r\n"
                      "GPU0\t X \tNV12\tSYS\t0-15,32-47\t1\t\tN/A  \r\n"
                      "GPU10\tNV12\t X \tPXB\t\t16-31\t3\t\tN/A\n"
                      "NIC0\tSYS\tPXB\t X \t\t\t\t   \n\n"
                      "GPU0 is not a row any more\n");
    EXPECT(interior != NULL);
    EXPECT_INT(interior->gpu_count, 2);
    EXPECT_INT(interior->nic_count, 1);
    EXPECT_INT(interior_nvlinks(interior, 0, 1), 12);
    EXPECT_INT(interior->cells[1 * 3 + 2], CELL_PXB);
    EXPECT_INT(interior->numa[0], 1);
    EXPECT_INT(interior->numa[1], 3);
    EXPECT_TEXT(interior->nic_names[0], "mlx5_7");
    arena_close(arena);
}

TEST(a_matrix_is_read_through_what_pages_terminals_and_launchers_did_to_it) {
    static const char *const texts[] = {
        "\xef\xbb\xbf\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tSYS\nNIC0\tPIX\tSYS\t X \n",
        "\t[4mGPU0\tGPU1\tNIC0[0m\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tSYS\nNIC0\tPIX\tSYS\t X \n",
        "\t^[[4mGPU0\tGPU1\tNIC0^[[0;1m\nGPU0\t X \tNV4\tPIX\nGPU1\tNV4\t X \tSYS\n",
        "\x1b(B\x1b[m\tGPU0\tGPU1\tNIC0\x1b(B\nGPU0\t\x1b[1mX\x1b(B \tNV4\tPIX\nGPU1\tNV4\t X \tSYS\n",
        "\xc2\xa0GPU0\xc2\xa0\xc2\xa0GPU1 NIC0\nGPU0\xc2\xa0X\xc2\xa0NV4 PIX\nGPU1 NV4 X SYS\n",
        "n7: \tGPU0\tGPU1\tNIC0\nn7: GPU0\t X \tNV4\tPIX\nn7: GPU1\tNV4\t X \tSYS\nn7: NIC0 PIX SYS X\nn7: \n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Arena *arena = arena_open();
        const NodeInterior *interior = matrix(arena, texts[i]);
        if (!interior) test_fail(__FILE__, __LINE__, "text %d is not read", (int)i);
        EXPECT(interior && interior->gpu_count == 2 && interior->nic_count == 1);
        EXPECT(interior && interior_nvlinks(interior, 0, 1) == 4 && interior->cells[2] == CELL_PIX);
        arena_close(arena);
    }
}

TEST(matrices_of_other_programs_are_refused_by_name) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(
        complaint(arena, "\n==== ROCm System Management Interface ====\n GPU0 GPU1\nGPU0 0 15\nGPU1 15 0\n"),
        "2: this is of rocm-smi");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 0 XGMI\nGPU1 XGMI 0\n"), "2: this is of rocm-smi");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n\n  CNS  = Chipset not supported\n"),
                    "2: \"OK\" between GPU0 and GPU1");
    EXPECT_CONTAINS(complaint(arena, "\xff\xfeG\0P\0"), "1: the file is UTF-16");
    arena_close(arena);
}

TEST(a_broken_matrix_is_refused_at_its_line) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(complaint(arena, "hello\nworld\n"), "0: there is no matrix");
    EXPECT_CONTAINS(complaint(arena, ""), "0: there is no matrix");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X NV4\nGPU1 NVX X\n"), "3: \"NVX\" between GPU1 and GPU0");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X NV4\nGPU1 SYS X\n"), "3: GPU1 and GPU0 are joined in one way");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X\nGPU1 SYS X\n"), "2: the row of GPU0 ends after 1 of 2");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X SYS\n"), "the row of GPU1 is missing");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X X\nGPU1 SYS X\n"), "2: GPU0 and GPU1 are joined by \"X\"");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 PIX SYS\nGPU1 SYS X\n"), "2: GPU0 and GPU0 are joined by");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X SYS\nGPU0 X SYS\n"), "3: a second row for GPU0");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU0\nGPU0 X SYS\n"), "1: two columns are called \"GPU0\"");
    EXPECT_CONTAINS(complaint(arena, " GPU0 NIC0 GPU1\n"), "1: column \"GPU1\" comes after NICs");
    EXPECT_CONTAINS(complaint(arena, " GPU0 GPU1\nGPU0 X NV99\nGPU1 NV99 X\n"), "2: \"NV99\" between");
    arena_close(arena);
}

TEST(nvlinks_that_the_gpu_does_not_have_are_refused) {
    Arena *arena = arena_open();
    const Catalogue *catalogue = catalogue_builtin(arena);
    Problems *problems = problems_create(arena);
    const NodeInterior *interior = matrix(arena, " GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n");
    EXPECT(node_from_interior(arena, catalogue, "m.txt", interior, catalogue_gpu(catalogue, "RTX-4090"), NULL,
                              (Where){0}, problems) == NULL);
    EXPECT_INT(problem_count(problems), 1);
    EXPECT_CONTAINS(problem_at(problems, 0)->text, "m.txt has NVLinks between GPUs");
    EXPECT(problem_at(problems, 0)->hint != NULL);
    arena_close(arena);
}

#define XML_GPU(bus, more)                                                                                             \
    "<pci busid='" bus "' class='0x030200' link_speed='16.0 GT/s PCIe' link_width='16'><gpu dev='0' sm='80'>" more     \
    "</gpu></pci>\n"
#define XML_NIC(bus, name)                                                                                             \
    "<pci busid='" bus "' class='0x020700'><nic><net name='" name "' speed='200000' gdr='1'/></nic></pci>\n"

TEST(a_topology_file_of_nccl_gives_the_same_matrix_as_nvidia_smi) {
    static const char xml[] =
        "<?xml version='1.0'?>\n<system version='1'>\n<cpu numaid='0' arch='x86_64'>\n"
        "<pci busid='0' class='0x060400'>\n"
        "<pci busid='1' class='0x060400'>" XML_GPU("a", "<nvlink target='b' count='4' tclass='0x030200'/>") XML_NIC(
            "n", "mlx5_0") "</pci>\n" XML_GPU("b", "") "</pci>\n</cpu>\n"
                                                       "<cpu numaid='1'><pci busid='2' class='0x060400'>" XML_GPU(
                                                           "c", "") "</pci></cpu>\n</system>\n";
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const NodeInterior *interior = interior_from_text(arena, "t.xml", xml, strlen(xml), problems);
    EXPECT(interior != NULL);
    EXPECT_INT(interior->gpu_count, 3);
    EXPECT_INT(interior->nic_count, 1);
    EXPECT_INT(interior_nvlinks(interior, 0, 1), 4);
    EXPECT_INT(interior_nvlinks(interior, 1, 0), 4); // said by one side only
    EXPECT_INT(interior->cells[0 * 4 + 3], CELL_PIX);
    EXPECT_INT(interior->cells[1 * 4 + 3], CELL_PXB);
    EXPECT_INT(interior->cells[2 * 4 + 3], CELL_SYS);
    EXPECT_INT(interior->numa[2], 1);
    EXPECT_INT(interior->sm, 80);
    EXPECT_TEXT(interior->nic_names[0], "mlx5_0");
    EXPECT_NEAR(interior->nic_bytes_per_second, 25e9, 1e-12);
    EXPECT_NEAR(interior->pcie_bytes_per_second, 16e9 / 8 * 128 / 130 * 16, 1e-12);
    arena_close(arena);
}

TEST(links_to_switches_of_nvlink_join_all_gpus_that_have_them) {
    static const char xml[] = "<system version='1'><cpu numaid='-1'>" XML_GPU(
        "a", "<nvlink target='s0' count='6' tclass='0x068000'/><nvlink target='s1' count='6' tclass='0x068000'/>")
        XML_GPU("b", "<nvlink target='s0' count='12' tclass='0x068000'/>") "</cpu></system>";
    Arena *arena = arena_open();
    const NodeInterior *interior = interior_from_text(arena, "t.xml", xml, strlen(xml), problems_create(arena));
    EXPECT(interior && interior->nvswitch);
    EXPECT_INT(interior_nvlinks(interior, 0, 1), 12);
    arena_close(arena);
}

// A vendor's file, as NCCL_TOPO_FILE takes it: what is on PCIe, and no word of NVLink.
TEST(an_xml_without_nvlinks_takes_those_of_the_gpu_and_says_so) {
    static const char xml[] =
        "<system version='1'><cpu numaid='0'><pci busid='1' class='0x060400'>"
        "<pci busid='a' class='0x030200' link_speed='32.0 GT/s PCIe' link_width='16'/>"
        "<pci busid='n' class='0x020700'/></pci>"
        "<pci busid='b' class='0x030200' link_speed='32.0 GT/s PCIe' link_width='16'/></cpu></system>";
    char path[] = "/tmp/lockstep-topo-XXXXXX.xml", line[256];
    int handle = mkstemps(path, 4);
    EXPECT(handle >= 0 && write(handle, xml, sizeof xml - 1) == (ssize_t)sizeof xml - 1);
    close(handle);
    const Ended *ended =
        run_command(command_collective,
                    (snprintf(line, sizeof line, "collective all_reduce --node %s --sizes 1G --csv", path), line));
    EXPECT_INT(ended->code, 4);
    EXPECT_CONTAINS(ended->err, "does not say which GPUs these are");
    snprintf(line, sizeof line, "collective all_reduce --node %s --gpu H100-SXM5-80GB --sizes 1G --csv", path);
    ended = run_command(command_collective, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->err, "lists no NVLinks; those of H100-SXM5-80GB are taken as in");
    EXPECT_CONTAINS(ended->out, "nvlink");
    snprintf(line, sizeof line, "collective all_reduce --node %s --gpu H100-PCIE-80GB --sizes 1G --csv", path);
    ended = run_command(command_collective, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "pcie");
    unlink(path);
}

TEST(broken_xml_is_refused_at_its_line) {
    Arena *arena = arena_open();
    EXPECT_CONTAINS(complaint(arena, "<system>\n<cpu>\n</system>"), "3: this is no XML: mismatched tag");
    EXPECT_CONTAINS(complaint(arena, "<graphs/>"), "1: the file begins with <graphs>; expected <system> or <topology>");
    EXPECT_CONTAINS(complaint(arena, "<system/>"), "0: there is no GPU");
    EXPECT_CONTAINS(complaint(arena, "<system>\n<cpu numaid='x'/></system>"), "2: numaid of <cpu> is \"x\"");
    EXPECT_CONTAINS(complaint(arena, "<system><cpu>\n\n<nvlink target='a'/></cpu></system>"), "3: this <nvlink>");
    EXPECT_CONTAINS(complaint(arena, "<a><a><a>"), "1: ");
    arena_close(arena);
}

// hwloc's XML: eight GPUs behind four switches, each with a NIC beside it, a board with a display and Ethernet of its
// own.
TEST(a_topology_that_lstopo_wrote_gives_the_same_matrix_as_nvidia_smi) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    size_t bytes = 0;
    const char *text = file_read(arena, "tests/data/topo/lstopo-8xh100.xml", 1 << 20, &bytes, problems);
    const NodeInterior *interior = interior_from_text(arena, "l.xml", text, bytes, problems);
    EXPECT(interior != NULL);
    EXPECT_INT(interior->gpu_count, 8);
    EXPECT_INT(interior->nic_count, 8);
    EXPECT_TEXT(interior->nic_names[3], "mlx5_3");
    EXPECT_TEXT(interior->gpu_model, "NVIDIA H100 80GB HBM3");
    EXPECT_INT(interior->cells[0 * 16 + 1], CELL_PIX);
    EXPECT_INT(interior->cells[0 * 16 + 8], CELL_PIX);
    EXPECT_INT(interior->cells[0 * 16 + 2], CELL_NODE);
    EXPECT_INT(interior->cells[0 * 16 + 4], CELL_SYS);
    EXPECT_INT(interior->numa[3], 0);
    EXPECT_INT(interior->numa[4], 1);
    EXPECT_NEAR(interior->pcie_bytes_per_second, 63.015385e9, 1e-9); // one that idles says less
    arena_close(arena);
}

TEST(a_node_of_lstopo_has_the_gpus_that_its_driver_names) {
    const Ended *ended =
        run_command(command_collective, "collective all_reduce --node tests/data/topo/lstopo-8xh100.xml "
                                        "--sizes 1G --csv");
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->err, "lists no NVLinks; those of H100-SXM5-80GB are taken as in");
    Arena *arena = arena_open();
    EXPECT_CONTAINS(complaint(arena, "<topology><object type='Machine'/></topology>"), "0: there is no GPU");
    EXPECT_CONTAINS(complaint(arena, "<topology><object type='NUMANode' os_index='x'/></topology>"),
                    "os_index of <object>");
    EXPECT_CONTAINS(complaint(arena, "<topology><object></topology>"), "this is no XML");
    arena_close(arena);
}
