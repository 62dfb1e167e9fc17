import { readFileSync } from "node:fs";
import { LuaFactory, LuaReturn } from "wasmoon";

/** Functions whose wrappers in the package decode UTF-8. */
interface OnBytes {
  _lua_pushlstring(state: number, at: number, size: number): number;
  _lua_tolstring(state: number, index: number, size: number): number;
}

const textOf = (name: string) => readFileSync(new URL(name, import.meta.url), "latin1");
const libraries = textOf("./libraries.lua");
const host = textOf("./host.lua");

/** Lua 5.4 in WebAssembly, with bytes instead of texts at its border. */
export class Lua54 {
  readonly #lua: Awaited<ReturnType<LuaFactory["getLuaModule"]>>;
  readonly #state: number;

  private constructor(lua: Awaited<ReturnType<LuaFactory["getLuaModule"]>>, integers: boolean) {
    this.#lua = lua;
    this.#state = lua.luaL_newstate();
    lua.luaL_openlibs(this.#state);
    for (const text of [libraries.replace("INTEGERS\n", `${integers}\n`), host]) this.#run(text);
  }

  /** `integers`: what `struct.unpack` gives; else floats. */
  static async start(integers: boolean): Promise<Lua54> {
    return new Lua54(await new LuaFactory().getLuaModule(), integers);
  }

  /** The error of a script's text, or the empty text. */
  compile(text: Buffer): string {
    const L = this.#state;
    this.#lua.lua_getglobal(L, "compile");
    this.#push(L, text);
    if (this.#lua.lua_pcallk(L, 1, 1, 0, 0, null) !== LuaReturn.Ok) throw new Error(String(this.#top(L)));
    const why = this.#top(L).toString("latin1");
    this.#lua.lua_settop(L, 0);
    return why;
  }

  /** Runs a script: text, number of keys, keys, arguments. `ask` answers its commands; all are RESP. */
  async run(words: readonly Buffer[], ask: (command: Buffer) => Promise<Buffer>): Promise<Buffer> {
    const lua = this.#lua;
    const thread = lua.lua_newthread(this.#state);
    const count = lua.module._malloc(4);
    try {
      lua.lua_getglobal(thread, "run");
      if (!lua.lua_checkstack(thread, words.length + 8)) throw new Error("too many arguments");
      for (const word of words) this.#push(thread, word);
      let pushed = words.length;
      for (;;) {
        const status = lua.lua_resume(thread, null, pushed, count);
        const bytes = this.#top(thread);
        if (status === LuaReturn.Ok) return bytes;
        if (status !== LuaReturn.Yield) throw new Error(bytes.toString("latin1"));
        lua.lua_settop(thread, -2);
        this.#push(thread, await ask(bytes));
        pushed = 1;
      }
    } finally {
      lua.module._free(count);
      lua.lua_settop(this.#state, 0);
    }
  }

  stop(): void {
    this.#lua.lua_close(this.#state);
  }

  get #raw(): OnBytes {
    return this.#lua.module as unknown as OnBytes;
  }

  #run(text: string): void {
    const at = this.#copy(Buffer.from(text, "latin1"));
    const status = this.#lua.luaL_loadbufferx(this.#state, at, text.length, "@host", null);
    this.#lua.module._free(at);
    if (status !== LuaReturn.Ok || this.#lua.lua_pcallk(this.#state, 0, 0, 0, 0, null) !== LuaReturn.Ok)
      throw new Error(this.#top(this.#state).toString());
  }

  #push(state: number, bytes: Buffer): void {
    const at = this.#copy(bytes);
    this.#raw._lua_pushlstring(state, at, bytes.length);
    this.#lua.module._free(at);
  }

  #copy(bytes: Buffer): number {
    const at = this.#lua.module._malloc(Math.max(bytes.length, 1));
    this.#lua.module.HEAPU8.set(bytes, at);
    return at;
  }

  /** The text at the top of a stack, which stays there. */
  #top(state: number): Buffer {
    const { module } = this.#lua;
    const size = module._malloc(4);
    const at = this.#raw._lua_tolstring(state, -1, size);
    const bytes = Buffer.from(module.HEAPU8.slice(at, at + new DataView(module.HEAPU8.buffer).getUint32(size, true)));
    module._free(size);
    return bytes;
  }
}
