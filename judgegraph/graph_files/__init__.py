"""A graph as a file, for people who do not write Python: YAML or JSON in, a compiled LangGraph out.

    name: panel-with-gate          # of the graph
    about: ...  task: ...          # one line each; task: what kind of text is judged
    criteria: forms                # a set, a file beside this one, or a list of criteria
    judge: embedded                # of all nodes that have none of their own; -j comes before it
    judges: {strong: {model: openai:m, temperature: 0}}      # names to use below
    nodes: {...}                   # name: what runs there
    edges: [...]
    outputs: [scores, notes]       # keys of the result; else all that nodes write

What each construct becomes:

    a: evaluator                                 add_node("a", Evaluator(judge=..., criteria=..., task=...))
    a: {use: sage, judge: strong, with: {...}}   the same with settings, checked by the part's own annotations
    a: {use: panel, with: {judges: [...]}}       jg.panel(...); gate, critique, refine, escalate alike
    a: rouge-l                                   jg.metric_node("rouge-l")
    a: {use: g-eval, each: criteria}             jg.each(...): one run per criterion, side by side
    a: ./inner.yaml                              the inner file's graph; what it leaves out it has from this one
    a: mine.py:name                              a class, function or factory of a file beside this one: ITS CODE RUNS
    - a -> b, c -> d                             edges; d waits for both: add_edge(["b", "c"], "d")
    - {from: a, to: b, when: wide, else: c}      add_conditional_edges; several of one source are tried in order, and
                                                 without else it goes to the end; a join behind one is deferred
"""
