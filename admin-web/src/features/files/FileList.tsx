import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { whole } from "../../lib/numbers.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Loaded } from "../../ui/Loaded.tsx";
import { LongText } from "../../ui/LongText.tsx";
import { Paged } from "../../ui/Paged.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { Table } from "../../ui/Table.tsx";
import { fileQuery, filesQuery } from "./queries.ts";

/** The virtual files of a session, each opening at the side. */
export function FileList({ sessionId }: { sessionId: string }) {
  const found = useInfiniteQuery(filesQuery(sessionId));
  const [open, setOpen] = useState<string | null>(null);
  return (
    <>
      <Paged
        what="files"
        found={found}
        empty={
          <EmptyState title="No files">
            The agent writes here with its file tools; it never sees a file of the host.
          </EmptyState>
        }
      >
        {(files) => (
          <Table caption="Files" head={["Path", "Version", "Hash"]}>
            {files.map((each) => (
              <tr key={each.path}>
                <th scope="row">
                  <Button small look="quiet" onClick={() => setOpen(each.path)}>
                    <code>{each.path}</code>
                  </Button>
                </th>
                <td>{whole(each.version)}</td>
                <td>
                  <code title={each.sha256}>{each.sha256.slice(0, 8)}</code>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
      {open !== null && (
        <FileSheet sessionId={sessionId} path={open} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

type SheetProps = { sessionId: string; path: string; onClose: () => void };

function FileSheet({ sessionId, path, onClose }: SheetProps) {
  const found = useQuery(fileQuery(sessionId, path));
  return (
    <Dialog title={path} shape="sheet" onClose={onClose}>
      <Loaded what="the file" found={found}>
        {({ content }) =>
          content === "" ? <p>The file is empty.</p> : <LongText text={content} label={path} />
        }
      </Loaded>
    </Dialog>
  );
}
