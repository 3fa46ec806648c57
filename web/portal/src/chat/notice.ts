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
 * One conversation's notice records: each method is posted once, when its text stands on the page, and the first chat
 * request waits until every one was handed to the network. It does not wait for what the gateway says to them.
 */
export class NoticeGate {
  private readonly handle: string;
  private readonly systemId: string | null;
  private readonly owed: Set<NoticeMethod>;
  private readonly under = new Set<NoticeMethod>();
  private readonly onPosted: (method: NoticeMethod, isPosted: boolean) => void;
  /** Where each text stands by now: an element may be made anew while its record is under way. */
  private readonly places = new Map<NoticeMethod, Element>();
  private waiting: (() => void)[] = [];

  constructor(settings: {
    handle: string;
    systemId: string | null;
    owed: readonly NoticeMethod[];
    /** To be remembered: it is not posted again when the page is loaded anew, unless it was lost on the way. */
    onPosted: (method: NoticeMethod, isPosted: boolean) => void;
  }) {
    this.handle = settings.handle;
    this.systemId = settings.systemId;
    this.owed = new Set(settings.owed);
    this.onPosted = settings.onPosted;
  }

  /** The text stands on the page in `element`, alone in one text node. */
  async shown(method: NoticeMethod, element: Element, locale: string): Promise<void> {
    this.places.set(method, element);
    const [node] = element.childNodes;
    if (!this.owed.has(method) || this.under.has(method) || element.childNodes.length !== 1 || !(node instanceof Text)) return;
    this.under.add(method);
    try {
      const token = await ownSession.token();
      // The text as it stands there now: what is read is what is sealed.
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
      // It never arrived. A question that left right behind it did not either, and the next one waits for another try.
      // A page that is being left breaks off requests that go on without it: the loss is noted where the page stays.
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

  /** Resolves when a chat request may leave. */
  open(): Promise<void> {
    return this.owed.size === 0 ? Promise.resolve() : new Promise((resolve) => this.waiting.push(resolve));
  }

  private release(): void {
    if (this.owed.size > 0) return;
    for (const resolve of this.waiting) resolve();
    this.waiting = [];
  }
}
