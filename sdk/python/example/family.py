"""Greets people, and remembers whom it greeted."""
import alcove

alcove.family(
    name="example",
    version="0.1.0",
    license="Apache-2.0",
    capabilities=[{"name": "memory.write", "scope": ["*"], "reason": "to remember whom it greeted"}],
    config=[{"key": "word", "description": "The word before the name", "schema": {"type": "string"}, "default": "Hello"}],
)


@alcove.tool(output={"text": str})
def memory_greet(c: alcove.Call, name: str):
    """Greet somebody.

    name: whom
    """
    if not name:
        alcove.fail("invalid_argument", "give a name")
    c.memory.put(items=[{"value": f"greeted {name}", "tags": ["greeting"]}])
    return {"text": f"{c.config.get('word') or 'Hello'}, {name}!"}
