import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { type RefObject, useCallback } from "react";
import { usePortalTexts } from "../translations.ts";
import type { ModelChoice, Talk } from "./use-conversation.ts";

/** Asks again from a turn on. The turns below it are dropped, which can be undone. */
export function useAgain(
  talk: Talk,
  model: ModelChoice | null,
  region: RefObject<HTMLElement | null>,
): (turnId: string, text?: string) => void {
  const t = usePortalTexts();
  const { again, restore } = talk;
  return useCallback(
    (turnId, text) => {
      if (model === null) return;
      const { before, givenUp } = again(turnId, model, text);
      if (givenUp > 0) showToast(t("gaveWay"), { label: t("undo"), run: () => restore(before) });
      // The button that was used is gone or disabled.
      region.current?.focus({ preventScroll: true });
    },
    [again, restore, model, region, t],
  );
}
