import { Button } from "@gatehouse/web-kit/button.tsx";
import { saveFile } from "@gatehouse/web-kit/save-file.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { adminApi } from "./admin-client.ts";

/** Downloads the answer of an admin API request as a file. */
export function DownloadButton({
  path,
  fileName,
  children,
  label,
}: {
  readonly path: string;
  readonly fileName: string;
  readonly children: ReactNode;
  /** Accessible name, needed if several buttons have the same text. */
  readonly label?: string;
}): ReactNode {
  const download = useMutation({
    async mutationFn() {
      const answer = await adminApi.send(path);
      saveFile(await answer.blob(), fileName);
    },
    onError: (error) => showToast(`Download failed: ${error.message}`),
  });
  return (
    <Button icon={Download} aria-label={label} busy={download.isPending} onClick={() => download.mutate()}>
      {children}
    </Button>
  );
}
