// The engine: one WebAssembly module in a worker. Calls are answered in their order.
//
//   const engine = await Engine.start(new URL("./", import.meta.url), "trammel.wasm");
//   const about = await engine.call("open", text);

// The next frame; a hidden page gets none.
export const breathe = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 50); });

export class Engine {
  #worker;
  #waiting = new Map();
  #last = 0;
  #base;
  #module;
  #starting = null;

  static async start(base, module) {
    const engine = new Engine(base, module);
    await engine.#begin();
    return engine;
  }

  constructor(base, module) {
    [this.#base, this.#module] = [base, module];
  }

  async #begin() {
    this.#worker = new Worker(new URL("worker.js", this.#base));
    this.#worker.onmessage = ({ data: { id, result, error } }) => {
      const { settle, fail } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) settle(result); else fail(new Error(error));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#abandon(event.message || "the worker cannot be started");
    };
    await this.#ask("load", [new URL(this.#module, this.#base).href]);
  }

  #abandon(why) {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { fail } of waiting) fail(new Error(why));
  }

  // Asks the worker for one of the functions of worker.js, once it is there.
  call(name, ...args) {
    return this.#starting ? this.#starting.then(() => this.#ask(name, args)) : this.#ask(name, args);
  }

  #ask(name, args) {
    const id = ++this.#last;
    return new Promise((settle, fail) => {
      this.#waiting.set(id, { settle, fail });
      this.#worker.postMessage({ id, name, args });
    });
  }

  // Whether a call goes on.
  get isBusy() { return this.#waiting.size > 0 && !this.#starting; }

  // Waits until no call goes on, so that the next is answered at once; one that takes longer than
  // `patience` ms is ended.
  async free(patience) {
    const until = performance.now() + patience;
    while (this.isBusy && performance.now() < until) await breathe();
    if (this.isBusy) await this.restart();
  }

  // Ends what goes on, however long it would take, and starts anew; asked again meanwhile, it is the
  // same new start.
  restart() {
    this.#starting ??= this.#anew().finally(() => { this.#starting = null; });
    return this.#starting;
  }

  async #anew() {
    this.#worker.terminate();
    this.#abandon("stopped");
    await this.#begin();
  }
}
