// A source of the engine includes this header without using it, and WebAssembly has no such jumps.
