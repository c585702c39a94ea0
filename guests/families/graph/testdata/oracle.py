"""Random graphs and what networkx finds in them, for TestGraphsAreWalkedAsNetworkxWalksThem.

    python3 oracle.py NODES LINKS SEED QUERIES > NODES-LINKS.json

The graph itself is not written: both sides draw it from the same generator, splitmix64.
"""
import json
import sys

import networkx as nx

RELATIONS = ["led_to", "part_of", "x:knows"]
AGENTS = ["ann", "bob", "eve"]


class Draw:
    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % n


def make(nodes, links, seed):
    draw, graph = Draw(seed), nx.MultiDiGraph()
    graph.add_nodes_from(range(nodes))
    count = 0
    while count < links:
        source, target, relation = draw.below(nodes), draw.below(nodes), RELATIONS[draw.below(3)]
        begin = draw.below(1000)
        end = begin + 1 + draw.below(500) if draw.below(4) == 0 else None
        agent = AGENTS[draw.below(3)]
        if source != target and not graph.has_edge(source, target, relation):
            count += 1
            graph.add_edge(source, target, relation, begin=begin, end=end, agent=agent)
    deleted = {node for node in range(nodes) if draw.below(50) == 0}
    return draw, graph, deleted


def there(graph, deleted):
    return nx.subgraph_view(graph, filter_node=lambda node: node not in deleted)


def walk(graph, deleted, source, depth, at, relation, agent):
    def holds(a, b, key):
        link = graph.edges[a, b, key]
        if at is not None and not (link["begin"] <= at and (link["end"] is None or at < link["end"])):
            return False
        return (relation is None or key == relation) and (agent is None or link["agent"] == agent)

    view = nx.subgraph_view(graph, filter_node=lambda node: node not in deleted, filter_edge=holds)
    lengths = nx.single_source_shortest_path_length(view, source, cutoff=depth)
    return sorted([node, length] for node, length in lengths.items() if length > 0)


def main():
    nodes, links, seed, queries = (int(a) for a in sys.argv[1:5])
    draw, graph, deleted = make(nodes, links, seed)
    alive = [node for node in range(nodes) if node not in deleted]
    plain = nx.Graph(there(graph, deleted))
    dense = links / nodes > 4
    out = {"nodes": nodes, "links": links, "seed": seed, "cycles": not nx.is_directed_acyclic_graph(graph), "walks": [], "paths": [], "neighbours": []}
    for _ in range(queries):
        source = alive[draw.below(len(alive))]
        depth = 1 + draw.below(2 if dense else 5)
        at = draw.below(1200) if draw.below(2) else None
        relation = RELATIONS[draw.below(3)] if draw.below(3) == 0 else None
        agent = AGENTS[draw.below(3)] if draw.below(3) == 0 else None
        reached = walk(graph, deleted, source, depth, at, relation, agent)
        out["walks"].append({"source": source, "depth": depth, "at": at, "relation": relation, "agent": agent, "reached": reached})
    for _ in range(queries):
        source = target = alive[draw.below(len(alive))]
        for _ in range(1 + draw.below(4)):
            around = sorted(plain[target])
            if around:
                target = around[draw.below(len(around))]
        if draw.below(5) == 0:
            target = alive[draw.below(len(alive))]
        depth, most = 1 + draw.below(3 if dense else 5), 1 + draw.below(20)
        found = [[source]] if source == target else sorted(nx.all_simple_paths(plain, source, target, cutoff=depth), key=lambda path: (len(path), path))
        out["paths"].append({"source": source, "target": target, "depth": depth, "most": most, "paths": found[:most]})
    for _ in range(queries):
        node = alive[draw.below(len(alive))]
        around = [[a, b, key] for a, b, key in list(graph.out_edges(node, keys=True)) + list(graph.in_edges(node, keys=True))]
        out["neighbours"].append({"node": node, "links": sorted(around)})
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()


main()
