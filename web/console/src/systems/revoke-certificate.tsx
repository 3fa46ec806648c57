import { Button } from "@gatehouse/web-kit/button.tsx";
import { ConfirmDialog } from "@gatehouse/web-kit/dialog.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatDate } from "@gatehouse/web-kit/formats.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApiSchemas } from "../api/admin-api-schemas.generated.ts";
import { Allowed } from "../records/allowed.tsx";

const REVOKE = "POST /v1/admin/ai-systems/{id}/assurance/history/{rid}/revoke";

/** Revokes a certificate. It stays listed, with who revoked it and why. */
export function RevokeCertificate({
  systemId,
  certificate,
}: {
  readonly systemId: string;
  readonly certificate: AdminApiSchemas["AssuranceSnapshot"];
}): ReactNode {
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const revoke = useMutation({
    mutationFn: () => adminApi.call(REVOKE, { path: { id: systemId, rid: certificate.id }, body: { reason: reason.trim() } }),
    async onSuccess() {
      setAsking(false);
      setReason("");
      await queries.invalidateQueries({ queryKey: ["ai-system", systemId] });
      showToast("Certificate revoked.");
    },
  });
  const at = formatDate(certificate.created_at);
  return (
    <Allowed operation={REVOKE}>
      <Button aria-label={`Revoke the certificate of ${at}`} onClick={() => setAsking(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Revoke this certificate?"
        description={`Of ${at}. It can no longer be downloaded. This cannot be undone; capture a new report instead.`}
        closeLabel="Cancel"
        confirmLabel="Revoke"
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      >
        <TextField label="Reason" required value={reason} maxLength={4000} onChange={({ target }) => setReason(target.value)} />
        <FormError error={revoke.error} />
      </ConfirmDialog>
    </Allowed>
  );
}
