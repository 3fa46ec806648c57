import { AdminApiError } from "./admin-api.ts";

type Work = () => Promise<void>;

/**
 * Limits depend on each other over a tree of groups: raising one may require that another of the same file is raised, lowered or deleted
 * first. Work refused for such a limit is retried once everything else is done.
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

  /** Retries the waiting work as long as any of it succeeds. */
  async again(): Promise<void> {
    for (let left = Number.POSITIVE_INFINITY; this.waiting.length > 0 && this.waiting.length < left;) {
      const { waiting } = this;
      left = waiting.length;
      this.waiting = [];
      for (const { work } of waiting) await this.do(work);
    }
  }

  /** Throws the refusal of work that is still waiting. */
  end(): void {
    const [first] = this.waiting;
    if (first !== undefined) throw first.refusal;
  }
}

function isOfLimit(error: unknown): boolean {
  const { cause } = error as { cause?: unknown };
  return cause instanceof AdminApiError && (cause.code === "limit_exceeds_inherited" || cause.code === "limit_exceeds_available");
}
