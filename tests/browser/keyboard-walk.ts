import type { Page } from "playwright-core";

/** A page with more tab stops is not usable by keyboard. */
const MAX_STOPS = 500;

interface Stop {
  readonly element: string;
  /** Whether the walk has ended: focus left the part or returned to an element it already visited. */
  readonly isOver: boolean;
  readonly isShown: boolean;
}

/** What cannot be reached by keyboard within a part of the page as it is now, or shows no focus when reached; one per line. */
export async function keyboardFindings(page: Page, part: "body" | "main"): Promise<string[]> {
  const findings: string[] = [];
  await page.evaluate((name) => {
    const walked = document.querySelector<HTMLElement>(name);
    Object.assign(globalThis, { walked, reached: new Set<Element>(), last: null });
    // The keyboard continues from the current focus, so move it to the beginning of the part.
    const start = document.createElement("span");
    start.tabIndex = -1;
    walked?.prepend(start);
    start.focus();
    start.remove();
  }, part);
  let stops = 0;
  for (; stops < MAX_STOPS; stops++) {
    await page.keyboard.press("Tab");
    const { element, isOver, isShown } = await page.evaluate(stopHere);
    if (isOver) break;
    if (!isShown) findings.push(`nothing shows the focus on ${element}`);
  }
  if (stops === MAX_STOPS) findings.push("the keyboard does not come to an end");
  return [...findings, ...(await page.evaluate(unreached))];
}

interface Walk {
  readonly walked: Element;
  readonly reached: Set<Element>;
  last: Element | null;
}

function stopHere(): Stop {
  const walk = globalThis as unknown as Walk;
  const active = document.activeElement as HTMLElement | null;
  const before = walk.last;
  walk.last = active;
  const isOutside = active === null || active === document.body || !walk.walked.contains(active);
  if (isOutside || (active !== before && walk.reached.has(active))) return { element: "", isOver: true, isShown: true };
  walk.reached.add(active);
  const marks = (element: Element | null): boolean => {
    if (element === null) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0) || boxShadow !== "none";
  };
  // A field inside a frame may show the focus on the frame. A time input is several tab stops in one element.
  const frame = active.parentElement;
  return { element: active.outerHTML.slice(0, 160), isOver: false, isShown: [active, frame, frame?.parentElement ?? null].some(marks) };
}

function unreached(): string[] {
  const { walked, reached } = globalThis as unknown as Walk;
  const wanted = walked.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary, [tabindex]");
  const isOfGroup = (element: HTMLElement) => {
    if (!(element instanceof HTMLInputElement) || element.type !== "radio" || element.name === "") return false;
    return [...reached].some((other) => other instanceof HTMLInputElement && other.type === "radio" && other.name === element.name);
  };
  return [...wanted]
    .filter(
      (element) =>
        element.tabIndex >= 0 &&
        !element.matches(":disabled") &&
        element.closest("[inert], [aria-hidden=true]") === null &&
        element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
        !reached.has(element) &&
        !isOfGroup(element),
    )
    .map((element) => `the keyboard does not reach ${element.outerHTML.slice(0, 160)}`);
}
