import { AdminApiError } from "./admin-api.ts";

type Work = () => Promise<void>;

/**
 * Limits hang together over a tree of groups: what is raised may need another one of the same file raised, lowered or deleted
 * before. Work that is refused for such a limit waits, and is done again once everything else is.
 */
export class WhenThereIsRoom {
  private waiting: readonly { readonly work: Work; readonly refusal: unknown }[] = [];

  async do(work: Work): Promise<void> {
    try {
      await work();
    } catch (refusal) {
      if (!isOfLimit(refusal)) throw refusal;
      this.waiting = [...this.waiting, { work, refusal }];
    }
  }

  /** Does what waits, as long as any of it gets on. */
  async again(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; this.waiting.length > 0 && this.waiting.length < left;) {
      const { waiting } = this;
      left = waiting.length;
      this.waiting = [];
      for (const { work } of waiting) await this.do(work);
    }
  }

  /** Throws why what still waits was refused. */
  end(): void {
    const [first] = this.waiting;
    if (first !== undefined) throw first.refusal;
  }
}

function isOfLimit(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return cause instanceof AdminApiError && (cause.code === "limit_exceeds_inherited" || cause.code === "limit_exceeds_available");
}
