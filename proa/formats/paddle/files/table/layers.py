"""What layers are made of: convolutions, normalisations, activations, losses, recurrent networks, boxes."""

# Operations with the same name in both formats and nothing but operands: form -> names.
SAME = {
    "(X) -> Out": """
        relu relu6 sigmoid silu softsign swish tanh_shrink
    """,
    "(x, y) -> out": """
        swiglu
    """,
}

ROWS = """
affine_grid: affine_grid(Theta, OutputShape|output_shape:ints@list=[]; align_corners:bool=true) -> Output
batch_norm: batch_norm_(X, Mean, Variance, Scale, Bias; is_test:bool=false, momentum:float=0.9,
    epsilon:float=1e-05, data_format<data_layout:string=NCHW, use_global_stats:bool=false,
    trainable_statistics:bool=false) -> Y, MeanOut, VarianceOut, SavedMean, SavedVariance, ReserveSpace
bce_loss: bce_loss(X, Label) -> Out
bicubic_interp_v2: bicubic_interp(X, OutSize, SizeTensor*, Scale; data_format<data_layout:string=NCHW,
    out_d:int=0, out_h:int=0, out_w:int=0, scale:doubles/floats=[], interp_method:string=bilinear,
    align_corners:bool=true, align_mode:int=1) -> Out
bilinear_interp_v2: bilinear_interp(X, OutSize, SizeTensor*, Scale; data_format<data_layout:string=NCHW,
    out_d:int=0, out_h:int=0, out_w:int=0, scale:doubles/floats=[], interp_method:string=bilinear,
    align_corners:bool=true, align_mode:int=1) -> Out
bilinear_tensor_product: bilinear(X, Y, Weight, Bias) -> Out
brelu: hardtanh(X; t_min:float=0.0, t_max:float=24.0) -> Out
celu: celu(X; alpha:float=1.0) -> Out
channel_shuffle: channel_shuffle(X; groups:int, data_format:string=NCHW) -> Out
conv2d: conv2d(Input, Filter; strides:ints=[1,1], paddings:ints=[0,0], padding_algorithm:string=EXPLICIT,
    dilations:ints=[1,1], groups:int=1, data_format:string=NCHW) -> Output
conv2d_transpose: conv2d_transpose(Input, Filter, output_size:ints@list=[]; strides:ints=[1,1],
    paddings:ints=[0,0], output_padding:ints=[], padding_algorithm:string=EXPLICIT, groups:int=1,
    dilations:ints=[1,1], data_format:string=NCHW) -> Output
conv3d: conv3d(Input, Filter; strides:ints=[1,1,1], paddings:ints=[0,0,0], padding_algorithm:string=EXPLICIT,
    groups:int=1, dilations:ints=[1,1,1], data_format:string=NCDHW) -> Output
conv3d_transpose: conv3d_transpose(Input, Filter; strides:ints=[1,1,1], paddings:ints=[0,0,0],
    output_padding:ints=[], output_size:ints=[], padding_algorithm:string=EXPLICIT, groups:int=1,
    dilations:ints=[1,1,1], data_format:string=NCHW) -> Output
deformable_conv: deformable_conv(Input, Offset, Filter, Mask; strides:ints=[1,1], paddings:ints=[0,0],
    dilations:ints=[1,1], deformable_groups:int=1, groups:int=1, im2col_step:int=64) -> Output
deformable_conv_v1 > deformable_conv(Input, Offset, Filter, -; strides:ints=[1,1], paddings:ints=[0,0],
    dilations:ints=[1,1], deformable_groups:int=1, groups:int=1, im2col_step:int=64) -> Output
depthwise_conv2d: depthwise_conv2d(Input, Filter; strides:ints=[1,1], paddings:ints=[0,0],
    padding_algorithm:string=EXPLICIT, groups:int=1, dilations:ints=[1,1], data_format:string=NCHW) -> Output
depthwise_conv2d_transpose: depthwise_conv2d_transpose(Input, Filter, output_size:ints@list=[];
    strides:ints=[1,1], paddings:ints=[0,0], output_padding:ints=[], padding_algorithm:string=EXPLICIT,
    groups:int=1, dilations:ints=[1,1], data_format:string=NCHW) -> Output
elu: elu(X; alpha:float=1.0) -> Out
flash_attn: flash_attn(q, k, v, fixed_seed_offset, attn_mask; dropout:float=0.0, causal:bool=false,
    return_softmax:bool=false, is_test:bool=false, rng_name:string=) -> out, softmax, softmax_lse, seed_offset
fold: fold(X; output_sizes:ints, kernel_sizes:ints, strides:ints, paddings:ints, dilations:ints) -> Y
fractional_max_pool2d: fractional_max_pool2d(x; output_size:ints, kernel_size:ints=[0,0], random_u:float=0.0,
    return_mask:bool=true) -> out, mask
fractional_max_pool3d: fractional_max_pool3d(x; output_size:ints, kernel_size:ints=[0,0,0], random_u:float=0.0,
    return_mask:bool=true) -> out, mask
gelu: gelu(X; approximate:bool=false) -> Out
grid_sampler: grid_sample(X, Grid; mode:string=bilinear, padding_mode:string=zeros, align_corners:bool=true) ->
    Output
group_norm: group_norm(X, Scale, Bias; epsilon:double/float=1e-05, groups:int=-1,
    data_format<data_layout:string=NCHW) -> Y, Mean, Variance
gumbel_softmax: gumbel_softmax(X; temperature:float=1.0, hard:bool=false, axis:int=-1) -> Out
hard_shrink: hardshrink(X; threshold:float=0.5) -> Out
hard_sigmoid: hardsigmoid(X; slope:float=0.2, offset:float=0.5) -> Out
hard_swish: hardswish(X) -> Out
hinge_loss: hinge_loss(Logits, Labels) -> Loss
huber_loss: huber_loss(X, Y; delta:float) -> Out, Residual
instance_norm: instance_norm(X, Scale, Bias; epsilon:float=1e-05) -> Y, SavedMean, SavedVariance
kldiv_loss: kldiv_loss(X, Target; reduction:string=mean, log_target:bool=false) -> Loss
label_smooth: label_smooth(X, PriorDist; epsilon:float=0.0) -> Out
layer_norm: layer_norm(X, Scale, Bias; epsilon:float=1e-05, begin_norm_axis:int=1) -> Y, Mean, Variance
leaky_relu: leaky_relu(X; negative_slope<alpha:double/float=0.02) -> Out
linear_interp_v2: linear_interp(X, OutSize, SizeTensor*, Scale; data_format<data_layout:string=NCHW, out_d:int=0,
    out_h:int=0, out_w:int=0, scale:doubles/floats=[], interp_method:string=bilinear, align_corners:bool=true,
    align_mode:int=1) -> Out
log_loss: log_loss(Predicted, Labels; epsilon:float) -> Loss
log_softmax: log_softmax(X; axis:int=-1) -> Out
lookup_table_v2: embedding(Ids, W; padding_idx:long=-1, sparse<-:bool=false) -> Out
lp_pool2d: lp_pool2d(x; kernel_size:intarray/longs, strides:longs/ints=[1,1], paddings:longs/ints=[0,0],
    ceil_mode:bool=false, exclusive:bool=true, data_format:string=NCHW, pooling_type:string=,
    global_pooling:bool=false, adaptive:bool=false, padding_algorithm:string=EXPLICIT, norm_type:float=0.0) -> out
max_pool2d_with_index: max_pool2d_with_index(X; kernel_size<ksize:ints, strides:ints=[1,1], paddings:ints=[0,0],
    global_pooling:bool=false, adaptive:bool=false, ceil_mode:bool=false) -> Out, Mask
max_pool3d_with_index: max_pool3d_with_index(X; kernel_size<ksize:ints, strides:ints=[1,1,1],
    paddings:ints=[0,0,0], global_pooling:bool=false, adaptive:bool=false, ceil_mode:bool=false) -> Out, Mask
maxout: maxout(X; groups:int, axis:int=1) -> Out
mish: mish(X; lambda<threshold:float=20.0) -> Out
multiclass_nms3: multiclass_nms3(BBoxes, Scores, RoisNum; score_threshold:float, nms_top_k:int, keep_top_k:int,
    nms_threshold:float=0.3, normalized:bool=true, nms_eta:float=1.0, background_label:int=0) -> Out, Index,
    NmsRoisNum
nearest_interp_v2: nearest_interp(X, OutSize, SizeTensor*, Scale; data_format<data_layout:string=NCHW,
    out_d:int=0, out_h:int=0, out_w:int=0, scale:doubles/floats=[], interp_method:string=bilinear,
    align_corners:bool=true, align_mode:int=1) -> Out
nll_loss: nll_loss(X, Label, Weight; ignore_index:long=-100, reduction:string=mean) -> Out, Total_weight
nms: nms(Boxes; threshold<iou_threshold:float=1.0) -> KeepBoxesIdxs
pad: pad(X, pad_value:float@float32=0.0; paddings:ints) -> Out
pad3d: pad3d(X, Paddings|paddings:ints@list; mode:string=constant, pad_value<value:double/float=0.0,
    data_format:string=NCDHW) -> Out
pixel_shuffle: pixel_shuffle(X; upscale_factor:int=1, data_format:string=NCHW) -> Out
pixel_unshuffle: pixel_unshuffle(X; downscale_factor:int=1, data_format:string=NCHW) -> Out
pool2d: pool2d(X, ksize:ints@list; strides:longs/ints=[1,1], paddings:longs/ints=[0,0], ceil_mode:bool=false,
    exclusive:bool=true, data_format:string=NCHW, pooling_type:string=, global_pooling:bool=false,
    adaptive:bool=false, padding_algorithm:string=EXPLICIT) -> Out
pool3d: pool3d(X; kernel_size<ksize:longs/ints, strides:longs/ints=[1,1,1], paddings:longs/ints=[0,0,0],
    ceil_mode:bool=false, exclusive:bool=true, data_format:string=NCDHW, pooling_type:string=,
    global_pooling:bool=false, adaptive:bool=false, padding_algorithm:string=EXPLICIT) -> Out
quantize_linear: quantize_linear(X, Scale, ZeroPoint, InAccum, InState; quant_axis:int=0, bit_length:int=8,
    qmin:int=-128, qmax:int=127, round_type:int=0, is_test:bool=true, only_observer:bool=false) -> Y, OutState,
    OutAccum, OutScale
dequantize_linear: dequantize_linear(X, Scale, ZeroPoint, InAccum, InState; quant_axis:int=0, bit_length:int=8,
    qmin:int=-128, qmax:int=127, round_type:int=0, is_test:bool=true, only_observer:bool=false) -> Y, OutState,
    OutAccum, OutScale
fake_dequantize_max_abs: fake_dequantize_max_abs(X, Scale; max_range:float=127.0) -> Out
fake_channel_wise_dequantize_max_abs: fake_channel_wise_dequantize_max_abs(X, Scales*; quant_bits:ints=[8],
    quant_axis:int=0, x_num_col_dims:int=1) -> Out
prelu: prelu(X, Alpha; data_format:string=NCHW, mode:string=all) -> Out
rnn: rnn(Input, PreState*, WeightList*, SequenceLength, =0.0@float32; dropout_prob:float=0.0,
    is_bidirec:bool=false, input_size:int=10, hidden_size:int=100, num_layers:int=1, mode:string=RNN_TANH,
    seed:int=0, is_test:bool=false) -> Out, DropoutState, State*, Reserve
roi_align: roi_align(X, ROIs, RoisNum; pooled_height:int=1, pooled_width:int=1, spatial_scale:float=1.0,
    sampling_ratio:int=-1, aligned:bool=false) -> Out
roi_pool: roi_pool(X, ROIs, RoisNum; pooled_height:int=1, pooled_width:int=1, spatial_scale:float=1.0) -> Out,
    Argmax
rrelu: rrelu(X; lower:float=0.125, upper:float=0.3333333, is_test:bool=false) -> Out, Noise
segment_pool: segment_pool(X, SegmentIds; pooltype:string=SUM) -> Out, SummedIds
selu: selu(X; scale:float=1.050701, alpha:float=1.673263) -> Out
sigmoid_cross_entropy_with_logits: sigmoid_cross_entropy_with_logits(X, Label, pos_weight; normalize:bool=false,
    ignore_index:int=-100) -> Out
softmax: softmax(X; axis:int=-1) -> Out
softmax_with_cross_entropy: cross_entropy_with_softmax(Logits, Label; soft_label:bool=false,
    use_softmax:bool=true, numeric_stable_mode:bool=true, ignore_index:int=-100, axis:int=-1) -> Softmax, Loss
softplus: softplus(X; beta:double/float=1.0, threshold:double/float=20.0) -> Out
softshrink: softshrink(X; threshold<lambda:float=0.5) -> Out
spectral_norm: spectral_norm(Weight, U, V; dim:int=0, power_iters:int=1, eps:float=1e-12) -> Out
temporal_shift: temporal_shift(X; seg_num:int, shift_ratio:float=0.25, data_format:string=NCHW) -> Out
thresholded_relu: thresholded_relu(X; threshold:float=1.0, value:float=0.0) -> Out
trilinear_interp_v2: trilinear_interp(X, OutSize, SizeTensor*, Scale; data_format<data_layout:string=NCHW,
    out_d:int=0, out_h:int=0, out_w:int=0, scale:doubles/floats=[], interp_method:string=bilinear,
    align_corners:bool=true, align_mode:int=1) -> Out
unfold: unfold(X; kernel_sizes:ints, strides:ints, paddings:ints, dilations:ints) -> Y
unpool: unpool(X, Indices, output_size:ints@list=[0,0]; ksize:ints, strides:ints=[1,1],
    padding<paddings:ints=[0,0], data_format:string=NCHW) -> Out
unpool3d: unpool3d(X, Indices; ksize:ints, strides:ints=[1,1,1], paddings:ints=[0,0,0], output_size:ints=[0,0,0],
    data_format:string=NCDHW) -> Out
viterbi_decode: viterbi_decode(Input, Transition, Length; include_bos_eos_tag:bool=true) -> Scores, Path
warpctc: warpctc(Logits, Label, LogitsLength, LabelLength; blank:int=0, norm_by_times:bool=false) -> Loss,
    WarpCTCGrad
yolo_box: yolo_box(X, ImgSize; anchors:ints=[], class_num:int=1, conf_thresh:float=0.01, downsample_ratio:int=32,
    clip_bbox:bool=true, scale_x_y:float=1.0, iou_aware:bool=false, iou_aware_factor:float=0.5) -> Boxes, Scores
yolov3_loss: yolo_loss(X, GTBox, GTLabel, GTScore; anchors:ints=[], anchor_mask:ints=[], class_num:int=1,
    ignore_thresh:float=0.7, downsample_ratio:int=32, use_label_smooth:bool=true, scale_x_y:float=1.0) -> Loss,
    ObjectnessMask, GTMatchMask
dropout: dropout(X, Seed, dropout_prob:float@float32=0.5; is_test:bool=false,
    mode<dropout_implementation:string=downgrade_in_infer, seed:int=0, fix_seed:bool=false) -> Out, Mask
rms_norm: rms_norm(x, scale; normalized_shape:longs, epsilon:double=1e-05) -> y, invvar
"""
