import { portalApi, ownSession } from "../portal-client.ts";
import { translations } from "../translations.ts";
import { type NoticeMethod, type NoticePlan, noticePlanOf } from "./notice-plan.ts";
import { sha256OfText } from "./sha256.ts";

const RETRY_MS = 2_000;
const STAYS_MS = 500;

export async function readNoticePlan(systemId: string | null): Promise<NoticePlan | null> {
  const query = systemId === null ? {} : { ai_system_id: systemId };
  const settings: unknown = await portalApi.call("GET /v1/portal/evidence/notice-config", { query }).catch(() => null);
  return noticePlanOf(settings, translations.tag(), translations.t("notice"));
}

/**
 * Sends one conversation's notice records: one per method, when its text is on the page. The first chat request waits until all were handed
 * to the network, but not for their answers.
 */
export class NoticeGate {
  private readonly handle: string;
  private readonly systemId: string | null;
  private readonly owed: Set<NoticeMethod>;
  private readonly under = new Set<NoticeMethod>();
  private readonly onPosted: (method: NoticeMethod, isPosted: boolean) => void;
  /** The element that currently shows each text: it may be replaced while its record is being sent. */
  private readonly places = new Map<NoticeMethod, Element>();
  private waiting: (() => void)[] = [];

  constructor(settings: {
    handle: string;
    systemId: string | null;
    owed: readonly NoticeMethod[];
    /** Called to remember that a record was posted, so that a reload does not post it again, or that it was lost. */
    onPosted: (method: NoticeMethod, isPosted: boolean) => void;
  }) {
    this.handle = settings.handle;
    this.systemId = settings.systemId;
    this.owed = new Set(settings.owed);
    this.onPosted = settings.onPosted;
  }

  /** Reports that the text is on the page, as the only text node of `element`. */
  async shown(method: NoticeMethod, element: Element, locale: string): Promise<void> {
    this.places.set(method, element);
    const [node] = element.childNodes;
    if (!this.owed.has(method) || this.under.has(method) || element.childNodes.length !== 1 || !(node instanceof Text)) return;
    this.under.add(method);
    try {
      const token = await ownSession.token();
      // Hashes the text as displayed at this moment: what is read is what is sealed.
      const body = {
        conversation_handle: this.handle,
        locale,
        method,
        text_sha256: sha256OfText(node.data),
        ...(this.systemId === null ? {} : { ai_system_id: this.systemId }),
      };
      const post = fetch("/v1/portal/evidence/notice", {
        method: "POST",
        keepalive: true,
        headers: { ...ownSession.headers(), authorization: `Bearer ${token ?? ""}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      this.owed.delete(method);
      this.onPosted(method, true);
      this.release();
      await (await post).body?.cancel();
    } catch {
      // The record was lost. A question sent right after it was lost too, and the next one waits for another attempt. Leaving the page
      // aborts requests that still complete, so the loss is noted only if the page stays.
      if (!this.owed.has(method)) setTimeout(() => this.onPosted(method, false), STAYS_MS);
      this.owed.add(method);
      setTimeout(() => {
        const place = this.places.get(method);
        if (place?.isConnected === true) void this.shown(method, place, locale);
      }, RETRY_MS);
    } finally {
      this.under.delete(method);
    }
  }

  /** Resolves when a chat request may be sent. */
  open(): Promise<void> {
    return this.owed.size === 0 ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  private release(): void {
    if (this.owed.size > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  }
}
