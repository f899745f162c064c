"""Sound runs of agents, and the same with one fault planted at a known step."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import judgegraph as jg


def tool(name: str, about: str, /, **types: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": [*types]}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": parameters}}


# (task, tools, [(words, tool, arguments, result), ...], answer)
RUNS: tuple[tuple[str, list[Any], list[tuple[str, str, dict[str, Any], str]], str], ...] = (
    (
        "How warm is it in Bergen, and when does the next train to Oslo leave?",
        [tool("get_weather", "Weather in a city: warm, cold, rain", city="string"),
         tool("train_times", "When trains leave from one city to another", start="string", goal="string"),
         tool("send_mail", "Send an e-mail", to="string", text="string")],
        [("", "get_weather", {"city": "Bergen"}, "Bergen: 11 degrees, cloudy"),
         ("Now the train.", "train_times", {"start": "Bergen", "goal": "Oslo"}, "leaves 14:05, arrives 20:50")],
        "It is 11 degrees in Bergen, and the next train to Oslo leaves at 14:05.",
    ),
    (
        "Cancel order 5521 of Mrs Lind and tell her what she gets back.",
        [tool("find_order", "Look up an order by its number", number="integer"),
         tool("cancel_order", "Cancel an order", number="integer", why="string"),
         tool("write_note", "Write a note into the file of a customer", customer="string", text="string")],
        [("I look the order up.", "find_order", {"number": 5521}, "order 5521: Lind, 3 lamps, 240 euros, not sent"),
         ("It has not been sent, so I cancel the order.", "cancel_order", {"number": 5521, "why": "asked for"},
          "cancelled, refund 240 euros"),
         ("", "write_note", {"customer": "Lind", "text": "order 5521 cancelled"}, "saved")],
        "Order 5521 is cancelled; Mrs Lind gets 240 euros back.",
    ),
    (
        "Which of our three servers has the least free disk, and is its backup fresh?",
        [tool("list_servers", "List all servers", ),
         tool("disk_free", "Free disk of a server", server="string"),
         tool("backup_age", "Age of the newest backup of a server", server="string"),
         tool("restart", "Restart a server", server="string")],
        [("", "list_servers", {}, "alpha, beta, gamma"),
         ("", "disk_free", {"server": "alpha"}, "alpha: 40 GB free"),
         ("", "disk_free", {"server": "beta"}, "beta: 7 GB free"),
         ("", "disk_free", {"server": "gamma"}, "gamma: 112 GB free"),
         ("beta has the least free disk.", "backup_age", {"server": "beta"}, "beta: newest backup 5 hours old")],
        "The server beta has the least free disk, 7 GB; its backup is 5 hours old.",
    ),
    (
        "Find a recipe with leeks for 4 people that takes under 30 minutes, and list what to buy.",
        [tool("search_recipes", "Search recipes by what goes in", with_what="string", minutes="integer"),
         tool("open_recipe", "Open a recipe by its id", id="string"),
         tool("pantry", "What is in the pantry already")],
        [("", "search_recipes", {"with_what": "leeks", "minutes": 30}, "r17: leek soup, 25 minutes"),
         ("", "open_recipe", {"id": "r17"}, "leek soup for 4: 3 leeks, 2 potatoes, 1 litre stock, cream"),
         ("Which of it is there?", "pantry", {}, "potatoes, stock")],
        "Leek soup takes 25 minutes; for 4 people buy 3 leeks and cream.",
    ),
    (
        "Book a table for two at Rosso on Friday at 19:30 under the name Amari.",
        [tool("free_tables", "Free tables of a restaurant on a day", restaurant="string", day="string"),
         tool("book_table", "Book a table", restaurant="string", day="string", time="string", name="string",
              people="integer"),
         tool("cancel_table", "Cancel a booked table", code="string")],
        [("", "free_tables", {"restaurant": "Rosso", "day": "Friday"}, "18:00, 19:30, 21:00"),
         ("19:30 is free, so I book it.", "book_table",
          {"restaurant": "Rosso", "day": "Friday", "time": "19:30", "name": "Amari", "people": 2}, "booked, code K3")],
        "Your table for two at Rosso is booked for Friday at 19:30, code K3.",
    ),
    (
        "Translate the notice in notice.txt to Spanish and save it as aviso.txt.",
        [tool("read_file", "Read a file", path="string"),
         tool("translate", "Translate a text into a language", text="string", language="string"),
         tool("save_file", "Save a text as a file", path="string", text="string")],
        [("", "read_file", {"path": "notice.txt"}, "The pool is shut until Monday."),
         ("", "translate", {"text": "The pool is shut until Monday.", "language": "Spanish"},
          "La piscina está cerrada hasta el lunes."),
         ("", "save_file", {"path": "aviso.txt", "text": "La piscina está cerrada hasta el lunes."}, "saved")],
        "The notice is translated and saved as aviso.txt.",
    ),
)  # fmt: skip
HELD_OUT: tuple[tuple[str, list[Any], list[tuple[str, str, dict[str, Any], str]], str], ...] = (
    # written after the rules that find faults of form, and measured once
    (
        "Please move my dentist appointment from Tuesday to Thursday morning and text my sister Ines about it.",
        [tool("calendar_search", "Search the calendar for appointments", text="string"),
         tool("calendar_move", "Move an appointment to another time", id="string", to="string"),
         tool("contact_find", "Find a contact's number", name="string"),
         tool("sms_send", "Send a text message to a number", number="string", text="string")],
        [("Let me see the calendar.", "calendar_search", {"text": "dentist"}, "a9: dentist, Tuesday 15:00"),
         ("", "calendar_move", {"id": "a9", "to": "Thursday 09:00"}, "moved a9 to Thursday 09:00"),
         ("", "contact_find", {"name": "Ines"}, "Ines: 0171 2255"),
         ("", "sms_send", {"number": "0171 2255", "text": "Dentist is on Thursday at 09:00 now"}, "sent")],
        "The dentist is on Thursday at 09:00 now, and Ines has a text message about it.",
    ),
    (
        "What did we sell most of in March, and how does that compare with February?",
        [tool("sql", "Run a query on the sales database", query="string"),
         tool("chart", "Draw a chart of numbers", title="string", values="array"),
         tool("currency", "Convert an amount", amount="number", to="string")],
        [("", "sql", {"query": "select item, sum(n) from sales where month = 3 group by item order by 2 desc limit 1"},
          "teapot | 412"),
         ("Now the same for February.", "sql",
          {"query": "select sum(n) from sales where month = 2 and item = 'teapot'"}, "367")],
        "In March it was the teapot, with 412 sold; in February 367 were sold.",
    ),
    (
        "Is the unit test test_parse failing on main, and who changed parser.py last?",
        [tool("run_tests", "Run tests that match a pattern", pattern="string"),
         tool("git_log", "Newest commits of a file", path="string", count="integer"),
         tool("open_issue", "Open an issue", title="string", body="string")],
        [("", "run_tests", {"pattern": "test_parse"}, "1 passed, 1 did not pass: test_parse_empty"),
         ("", "git_log", {"path": "parser.py", "count": 1}, "3fe1 Okafor: allow empty input")],
        "test_parse_empty does not pass; Okafor changed parser.py last, in 3fe1.",
    ),
    (
        "Wo kann ich heute Abend in Graz vegetarisch essen, und ist dort noch ein Tisch frei?",
        [tool("suche_lokale", "Lokale in einer Stadt suchen", stadt="string", art="string"),
         tool("freie_tische", "Freie Tische eines Lokals heute", lokal="string"),
         tool("taxi", "Ein Taxi rufen", adresse="string")],
        [("", "suche_lokale", {"stadt": "Graz", "art": "vegetarisch"}, "Ginko, Erde, Mangolds"),
         ("", "freie_tische", {"lokal": "Ginko"}, "Ginko: 20:15, 2 Plätze")],
        "Im Ginko in Graz ist um 20:15 ein Tisch für 2 frei.",
    ),
)  # fmt: skip
KINDS = ("wrong tool", "wrong argument", "repeated step", "ignored error", "unsupported claim")
ERRORS = ("Error: the service did not answer", "HTTP 503: unavailable", "Traceback (most recent call last): timeout")
CLAIMS = ("It also has the prize of the year, 1987.", "By the way, 62 people asked the same.",
          "This was confirmed by Doctor Hallström.", "It costs 18 francs more on holidays.")  # fmt: skip


def turns(steps: Any, answer: str, task: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for at, (words, name, arguments, result) in enumerate(steps):
        call = {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        found.append({"role": "assistant", "content": words, "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"c{at}", "name": name, "content": result})
    return [*found, {"role": "assistant", "content": answer}]


def sample(
    id: str, task: str, tools: Any, steps: Any, answer: str, label: str = "none", kind: str = "none"
) -> jg.Sample:
    made = jg.trajectory({"id": id, "messages": turns(steps, answer, task), "tools": tools})
    return made.model_copy(update={"human": {"Decisive step": label, "Kind of fault": kind}})


def sound(runs: Any = RUNS) -> Iterator[jg.Sample]:
    for at, (task, tools, steps, answer) in enumerate(runs):
        yield sample(f"sound-{at}", task, tools, steps, answer)


def planted(runs: Any = RUNS, seed: int = 7) -> Iterator[jg.Sample]:
    """Each run with each kind of fault at each of its calls; an unsupported claim stands in the answer."""
    draw = random.Random(seed)
    for run, (task, tools, steps, answer) in enumerate(runs):
        for kind in KINDS:
            for at in range(len(steps) if kind != "unsupported claim" else 2):
                made = plant(kind, at, tools, [*steps], answer, draw)
                if made is not None:
                    changed, said, number = made
                    yield sample(f"{kind}-{run}-{at}", task, tools, changed, said, f"step {number}", kind)


def plant(kind: str, at: int, tools: Any, steps: list[Any], answer: str, draw: random.Random) -> Any:
    """(steps, answer, number of the faulty step); None where the fault has no place."""
    number = 2 * at + 2
    words, name, arguments, result = steps[at] if kind != "unsupported claim" else ("", "", {}, "")
    if kind == "wrong tool":
        names = [one["function"]["name"] for one in tools]
        other = draw.choice(["lookup_" + name.split("_")[0], *[n + "_v2" for n in names]])
        steps[at] = (words, other, arguments, f"no such tool: {other}" if draw.random() < 0.5 else result)
    elif kind == "wrong argument":
        if not arguments:
            return None
        key = draw.choice([*arguments])
        value = arguments[key]
        way = draw.choice(("missing", "type", "renamed"))
        left = {k: v for k, v in arguments.items() if k != key}
        wrong = {"missing": left, "type": {**left, key: 7 if isinstance(value, str) else str(value)},
                 "renamed": {**left, f"the_{key}": value}}[way]  # fmt: skip
        steps[at] = (words, name, wrong, result)
    elif kind == "repeated step":
        steps.insert(at + 1, ("", name, arguments, result))
        number += 2
    elif kind == "ignored error":
        steps[at] = (words, name, arguments, draw.choice(ERRORS))
        number += 2
    else:
        return steps, f"{answer} {CLAIMS[(at + draw.randrange(4)) % 4]}", 2 * len(steps) + 2
    return steps, answer, number
