/** The parts of express that the tests use; the package has no types. */
declare module "express" {
  interface Incoming {
    readonly path: string;
    readonly headers: Record<string, string | string[] | undefined>;
    readonly body: unknown;
  }
  interface Outgoing {
    json(value: unknown): void;
  }
  interface App {
    use(...handlers: unknown[]): void;
    use(handler: (request: Incoming, response: Outgoing, next: () => void) => void): void;
    get(path: string, handler: (request: Incoming, response: Outgoing) => void): void;
    listen(port: number, host: string, ready: () => void): import("node:http").Server;
  }
  function express(): App;
  namespace express {
    function json(options: { type: string[] }): unknown;
  }
  export default express;
}
