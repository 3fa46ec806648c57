import { Button } from "@gatehouse/web-kit/button.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Eye, EyeOff } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "../records/allowed.tsx";

const SET = "PATCH /v1/admin/resource-groups/{id}/llm-models/{model}/portal-visibility";

/** Whether the portal's model picker offers the model to people of the group. Does not affect who may call it. */
export function PortalVisibility({
  groupId,
  model,
}: {
  readonly groupId: string;
  readonly model: { readonly id: string; readonly name: string; readonly portal_visible: boolean };
}): ReactNode {
  const queries = useQueryClient();
  const { id, name, portal_visible: isVisible } = model;
  const change = useMutation({
    mutationFn: (visible: boolean) => adminApi.call(SET, { path: { id: groupId, model: id }, body: { portal_visible: visible } }),
    async onSuccess({ portal_visible: now }) {
      await queries.invalidateQueries({ queryKey: ["group", groupId, "models"] });
      showToast(now ? `${name} is shown in the portal.` : `${name} is hidden in the portal.`, {
        label: "Undo",
        run: () => change.mutate(!now),
      });
    },
    onError: (error) => showToast(`${name} was not changed: ${error.message}`),
  });
  const label = isVisible ? "Hide in portal" : "Show in portal";
  return (
    <Allowed operation={SET}>
      <Button
        icon={isVisible ? EyeOff : Eye}
        aria-label={`${label}: ${name}`}
        busy={change.isPending}
        onClick={() => change.mutate(!isVisible)}
      >
        {label}
      </Button>
    </Allowed>
  );
}
