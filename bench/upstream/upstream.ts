import type { UpstreamAnswer } from "../cases/case.ts";
import { type Helper, startHelper } from "../processes/helper.ts";
import type { UpstreamReport, UpstreamRequest } from "./protocol.ts";

export class Upstream {
  readonly port: number;
  readonly pid: number;
  readonly #helper: Helper<UpstreamRequest, UpstreamReport>;

  private constructor(helper: Helper<UpstreamRequest, UpstreamReport>, port: number) {
    this.#helper = helper;
    this.port = port;
    this.pid = helper.pid;
  }

  static async start(): Promise<Upstream> {
    const helper = startHelper<UpstreamRequest, UpstreamReport>("upstream", new URL("./server.ts", import.meta.url), "load");
    const { port } = await helper.next();
    return new Upstream(helper, port as number);
  }

  async answerWith(answer: UpstreamAnswer): Promise<void> {
    await this.#helper.ask({ answer });
  }

  async restartCount(): Promise<void> {
    await this.#helper.ask({ restart: true });
  }

  /** Calls received since `restartCount`; proves that a target answered none from its own cache. */
  async served(): Promise<number> {
    return (await this.#helper.ask({})).served;
  }
}
