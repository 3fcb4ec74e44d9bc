from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.images import ImageHeader, image_format, image_header, image_size
from tests.pictures import picture, png_header

MAGIC = st.sampled_from(
    [
        b"",
        b"\xff\xd8\xff",
        b"\xff\xd8\xff\xc0",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBPVP8X",
        b"RIFF\0\0\0\0WEBPVP8L",
        b"RIFF\0\0\0\0WEBPVP8 ",
    ]
)


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
@pytest.mark.parametrize("size", [(1, 1), (800, 600), (3, 2000)])
def test_format_and_size_of_real_files(kind, size):
    data = picture(kind, *size)

    assert image_format(data) == kind
    assert image_size(data) == size


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("jpeg", {"progressive": True}),
        ("jpeg", {"exif": b"Exif\0\0" + b"x" * 60_000, "icc_profile": b"p" * 200_000}),
        ("webp", {"lossless": True}),
        ("webp", {"exif": b"Exif\0\0MM\0*\0\0\0\x08\0\0"}),  # the extended form
    ],
)
def test_the_variants_of_the_formats(kind, options):
    assert image_size(picture(kind, 321, 123, **options)) == (321, 123)


def test_a_size_behind_a_long_preamble_is_found_in_base64():
    data = picture("jpeg", 640, 480, icc_profile=b"p" * 200_000)

    assert image_header(base64.b64encode(data).decode()) == ImageHeader("jpeg", (640, 480))


def test_fill_bytes_between_the_segments_of_a_jpeg():
    data = picture("jpeg", 64, 48)

    assert image_size(data[:2] + b"\xff" * 500_000 + data[2:]) == (64, 48)


def test_a_jpeg_of_endless_segments_is_given_up():
    assert image_size(b"\xff\xd8" + b"\xff\xe0\0\2" * 1_000_000) is None


@given(MAGIC, st.binary(max_size=300))
def test_garbage_has_no_size_or_any_but_never_fails(start, rest):
    size = image_size(start + rest)

    assert size is None or (min(size) > 0)


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_a_file_that_is_cut_has_its_size_or_none(kind):
    data = picture(kind, 40, 30)

    assert {image_size(data[:length]) for length in range(len(data))} == {None, (40, 30)}


@pytest.mark.parametrize("text", ["", "é", "not base64!", "AAAA", None, 5, ["x"], "data:image/png"])
def test_what_holds_no_image_has_no_header(text):
    assert image_header(text) is None


def test_an_image_of_no_height_has_no_size():
    assert image_header(base64.b64encode(png_header(5, 0)).decode()) == ImageHeader("png", None)
