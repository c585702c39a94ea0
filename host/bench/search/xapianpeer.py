"""Indexes texts with Xapian and searches them, for the command bench.

A request is a line of JSON on standard input, and so is each answer on standard output: {"dir"} opens an index, or makes it, {"texts"}
adds to it and commits, {"query"} searches it. Each answer tells how long that took, measured here so that the pipe does not count.
"""
import json
import sys
import time

import xapian


def add(database, texts):
    # Only stems are indexed, as the other libraries do.
    generator = xapian.TermGenerator()
    generator.set_stemmer(xapian.Stem("en"))
    generator.set_stemming_strategy(xapian.TermGenerator.STEM_ALL)
    for text in texts:
        document = xapian.Document()
        generator.set_document(document)
        generator.index_text_without_positions(text)
        database.add_document(document)
    database.commit()


def search(database, parser, text):
    began, used = time.perf_counter_ns(), time.process_time_ns()
    enquire = xapian.Enquire(database)
    enquire.set_query(parser.parse_query(text, 0))
    hits = len([match.docid for match in enquire.get_mset(0, 10)])
    return {"hits": hits, "ns": time.perf_counter_ns() - began, "cpu": time.process_time_ns() - used}


def main():
    print(json.dumps({"version": xapian.version_string()}), flush=True)
    database, written = None, None
    parser = xapian.QueryParser()
    parser.set_stemmer(xapian.Stem("en"))
    parser.set_stemming_strategy(xapian.QueryParser.STEM_ALL)
    for line in sys.stdin:
        request = json.loads(line)
        began = time.perf_counter_ns()
        if "query" in request:
            answer = search(database, parser, request["query"])
        else:
            if "dir" in request:
                written = xapian.WritableDatabase(request["dir"], xapian.DB_CREATE_OR_OPEN)
                database = xapian.Database(request["dir"])
            else:
                add(written, request["texts"])
                database.reopen()
            answer = {"hits": database.get_doccount(), "ns": time.perf_counter_ns() - began}
        print(json.dumps(answer), flush=True)


main()
