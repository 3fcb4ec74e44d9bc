import base64
import io

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from app.tokens.documents import MOST_PAGES, MOST_PAGES_READ, TYPICAL_PAGE_CHARACTERS, read_pdf


def pdf(pages: int, text: str = "", password: str = "") -> str:
    """A PDF in base64 with this line on each of its pages."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for _ in range(pages):
        page = writer.add_blank_page(612, 792)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode())
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = stream
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return base64.b64encode(file.getvalue()).decode()


def test_pages_and_text_are_read() -> None:
    read = read_pdf(pdf(3, "Invoice 42"))

    assert read.pages == 3
    assert read.text.split() == ["Invoice", "42"] * 3
    assert read.unread_characters == 0


def test_of_a_long_document_the_rest_is_taken_to_be_like_the_start() -> None:
    read = read_pdf(pdf(MOST_PAGES_READ + 10, "Ten words"))

    assert read.pages == MOST_PAGES_READ + 10
    assert read.text.count("Ten words") == MOST_PAGES_READ
    assert read.unread_characters == 10 * (len(read.text) // MOST_PAGES_READ)


def test_pages_beyond_what_the_provider_takes_are_left_out() -> None:
    assert read_pdf(pdf(MOST_PAGES + 1)).pages == MOST_PAGES


def test_without_its_password_only_pages_are_counted() -> None:
    read = read_pdf(pdf(4, "secret", password="open sesame"))

    assert (read.pages, read.text) == (4, "")
    assert read.unread_characters == 4 * TYPICAL_PAGE_CHARACTERS


def test_a_cut_file_counts_the_pages_that_are_left() -> None:
    whole = base64.b64decode(pdf(5, "text"))

    assert 1 <= read_pdf(base64.b64encode(whole[: len(whole) // 2]).decode()).pages <= 5


@pytest.mark.parametrize(
    "data",
    ["", "AAAA", "not base64 é", "A", None, 7, {"a": 1}, base64.b64encode(b"%PDF-1.7").decode()],
)
def test_what_is_no_document_is_taken_for_one_page(data: object) -> None:
    read = read_pdf(data)

    assert (read.pages, read.text, read.unread_characters) == (1, "", TYPICAL_PAGE_CHARACTERS)
