#include "models/workload/cluster/fabric_file.h"

#include <string.h>

bool is_fabric_file(const char *word) {
    static const char *const endings[] = {".conf", ".txt", ".log", ".out", ".topo", ".yaml", ".yml"};
    size_t length = strlen(word);
    if (strchr(word, '/')) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(word + length - ending, endings[i]) == 0) return true;
    }
    return false;
}

FabricShown fabric_file_read(Arena *arena, FabricFile *file, Problems *problems) {
    static const struct {
        bool (*is)(const char *text);
        FabricShown (*read)(Arena *arena, FabricFile *file, Problems *problems);
    } kinds[] = {{is_infragraph, infragraph_read},
                 {is_slurm_topology, slurm_topology_read},
                 {is_ibnetdiscover, ibnetdiscover_read}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].is(file->text)) return kinds[i].read(arena, file, problems);
    problem_add(problems, (Where){file->path, 0}, "this shows no fabric that is known");
    problem_hint(problems, "expected Slurm's topology.conf (SwitchName=… Nodes=…), what ibnetdiscover prints, "
                           "InfraGraph's YAML, or a drawing of your own in a .json file");
    return (FabricShown){0};
}
